package fib

import "slices"

// edit is one call of With at work. Nodes that it made are fresh, to be changed
// in place until finish; all others are shared and copied first.
type edit struct {
	touched []*node // the fresh ones
}

// own returns n, or its copy, as a node that e may change.
func (e *edit) own(n *node) *node {
	if n.fresh {
		return n
	}
	c := *n
	c.fresh = true
	c.entries, c.subs = slices.Clone(n.entries), slices.Clone(n.subs)
	e.touched = append(e.touched, &c)
	return &c
}

// set gives a prefix at or below n its value, and returns the node that takes
// n's place.
func (e *edit) set(n *node, p prefix, depth int, value uint32) *node {
	n = e.own(n)
	if i, ok := endsAt(p, depth); ok {
		n.stale = true
		if at, found := n.find(i); found {
			n.entries[at].value = value
		} else {
			n.entries = slices.Insert(n.entries, at, entry{i, value})
		}
		return n
	}
	o := p.octet(depth)
	at := n.below.below(o)
	switch {
	case !n.below.has(o):
		n.below.add(o)
		n.subs = slices.Insert(n.subs, at, sub{leaf: &leaf{p, value}})
	case n.subs[at].node != nil:
		n.subs[at].node = e.set(n.subs[at].node, p, depth+1, value)
	case n.subs[at].leaf.prefix == p:
		n.subs[at].leaf = &leaf{p, value}
	default: // a second prefix behind the octet
		old := n.subs[at].leaf
		m := e.set(new(node), old.prefix, depth+1, old.value)
		n.subs[at] = sub{node: e.set(m, p, depth+1, value)}
	}
	return n
}

// delete takes out a prefix that is there, at or below n, and returns the node
// that takes n's place.
func (e *edit) delete(n *node, p prefix, depth int) *node {
	n = e.own(n)
	if i, ok := endsAt(p, depth); ok {
		n.stale = true
		at, _ := n.find(i)
		n.entries = slices.Delete(n.entries, at, at+1)
		return n
	}
	o := p.octet(depth)
	at := n.below.below(o)
	if n.subs[at].node == nil {
		n.below.remove(o)
		n.subs = slices.Delete(n.subs, at, at+1)
		return n
	}
	m := e.delete(n.subs[at].node, p, depth+1)
	if l := m.only(p, depth+1); l != nil {
		n.subs[at] = sub{leaf: l}
	} else {
		n.subs[at].node = m
	}
	return n
}

// only returns the one prefix at or below n as a leaf, or nil if there are more.
// p begins with the octets in front of n.
func (n *node) only(p prefix, depth int) *leaf {
	switch {
	case len(n.entries) == 1 && len(n.subs) == 0:
		return &leaf{p.with(depth, n.entries[0].index), n.entries[0].value}
	case len(n.entries) == 0 && len(n.subs) == 1:
		return n.subs[0].leaf // nil if it is a node: that has two
	}
	return nil
}

// finish makes the touched nodes fit for look-ups. Nothing changes them again.
func (e *edit) finish() {
	for _, n := range e.touched {
		n.fresh = false
		if n.stale {
			n.stale = false
			n.entries = trim(n.entries)
			n.paint()
		}
		n.subs = trim(n.subs)
	}
}

// trim gives room back that growing left over.
func trim[T any](s []T) []T {
	if cap(s)-len(s) > len(s)/8 {
		return append(make([]T, 0, len(s)), s...)
	}
	return s
}

// paint makes runs and values from entries.
func (n *node) paint() {
	n.runs, n.values = set{}, nil
	if len(n.entries) == 0 {
		return
	}
	var octet [256]uint32
	for o := range octet {
		octet[o] = None
	}
	for _, e := range n.entries { // the shorter first
		for o, end := int(e.index.first()), int(e.index.first())+256>>e.index.bits(); o < end; o++ {
			octet[o] = e.value
		}
	}
	runs := 1
	for o := 1; o < 256; o++ {
		if octet[o] != octet[o-1] {
			runs++
		}
	}
	n.values = make([]uint32, 0, runs)
	for o := range octet {
		if o == 0 || octet[o] != octet[o-1] {
			n.runs.word[o>>5] |= 1 << (o & 31)
			n.values = append(n.values, octet[o])
		}
	}
	n.runs.count()
}
