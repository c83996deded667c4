package fib

import (
	"math/bits"
	"slices"
)

// node is one octet of a trie: it decides by the octet at its depth. It holds
// the prefixes that end in this octet, and leads on to those that are longer.
// Once a Table is made its nodes never change.
//
// A node other than the root has at least two prefixes at or below it: a single
// one is a leaf in the node above, however long.
type node struct {
	// What a look-up reads.

	// runs has a bit for each octet whose value differs from that of the octet
	// before it; values has the values of these runs, of equal values of the
	// longest prefix in this node, or None. Both are empty without a prefix, or
	// begin at octet 0.
	runs   set
	values []uint32
	// below has a bit for each octet with longer prefixes; subs are these.
	below set
	subs  []sub

	// What only changes need.

	// entries are the prefixes that end here, by index.
	entries []entry
	fresh   bool // made by the With at work and seen by nobody else: changed in place
	stale   bool // fresh, and runs and values are behind entries
}

// sub is what lies behind one octet: a node, or the only prefix there.
type sub struct {
	node *node
	leaf *leaf // never changed, only replaced
}

type leaf struct {
	prefix
	value uint32
}

type entry struct {
	index index
	value uint32
}

// set is a set of octets that can say how many of its members lie below one. 32
// bits a word, because a 32-bit ARM counts the bits of a word in software.
type set struct {
	word [8]uint32
	rank [8]uint8 // members in the words before
}

func (s *set) has(o uint8) bool { return s.word[o>>5]>>(o&31)&1 != 0 }

// below is how many members are less than o.
func (s *set) below(o uint8) int {
	return int(s.rank[o>>5]) + bits.OnesCount32(s.word[o>>5]&(1<<(o&31)-1))
}

func (s *set) add(o uint8)    { s.word[o>>5] |= 1 << (o & 31); s.count() }
func (s *set) remove(o uint8) { s.word[o>>5] &^= 1 << (o & 31); s.count() }

func (s *set) count() {
	n := 0
	for i, w := range s.word {
		s.rank[i] = uint8(n) // at most 224
		n += bits.OnesCount32(w)
	}
}

// find is where the entry of an index is, or belongs.
func (n *node) find(i index) (int, bool) {
	return slices.BinarySearchFunc(n.entries, i, func(e entry, i index) int { return int(e.index) - int(i) })
}

// endsAt says whether a prefix ends in the octet at this depth, and as what. The
// empty prefix is the root's.
func endsAt(p prefix, depth int) (index, bool) {
	if n := int(p.bits) - 8*depth; n <= 8 {
		return indexOf(p.octet(depth), n), true
	}
	return 0, false
}

// get returns the value of exactly this prefix, which is at or below n.
func (n *node) get(p prefix, depth int) (uint32, bool) {
	for ; ; depth++ {
		if i, ok := endsAt(p, depth); ok {
			at, found := n.find(i)
			if !found {
				return 0, false
			}
			return n.entries[at].value, true
		}
		o := p.octet(depth)
		if !n.below.has(o) {
			return 0, false
		}
		s := n.subs[n.below.below(o)]
		if s.node == nil {
			if s.leaf.prefix != p {
				return 0, false
			}
			return s.leaf.value, true
		}
		n = s.node
	}
}

// each calls f with every prefix at or below n until it returns false; p begins
// with the octets in front of n.
func (n *node) each(p prefix, depth int, f func(prefix, uint32) bool) bool {
	for _, e := range n.entries {
		if !f(p.with(depth, e.index), e.value) {
			return false
		}
	}
	i := 0
	for o := range 256 {
		if !n.below.has(uint8(o)) {
			continue
		}
		s := n.subs[i]
		i++
		if s.node == nil {
			if !f(s.leaf.prefix, s.leaf.value) {
				return false
			}
		} else if !s.node.each(p.with(depth, index(256+o)), depth+1, f) {
			return false
		}
	}
	return true
}
