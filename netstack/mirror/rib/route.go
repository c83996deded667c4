package rib

import (
	"net/netip"
	"unique"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/rtnl"
)

// Event says how a route message changes a table.
type Event uint8

const (
	Add     Event = iota // RTM_NEWROUTE
	Replace              // RTM_NEWROUTE with NLM_F_REPLACE
	Delete               // RTM_DELROUTE
)

// Route takes a route event in. Events are read as statements ("this key now
// holds that", "this key holds nothing"), so that replaying some that a dump
// already contained ends in the same state. Only a second route of the same key
// (appended, or a multipath sibling) cannot be read that way: the prefix is then
// in doubt, and the kernel's, until the next dump.
func (r *RIB) Route(ev Event, rt rtnl.Route) {
	local, ok := tableLocal(rt.Table)
	if !ok {
		return
	}
	r.noteLocal(rt)
	n, _ := r.nodes.Get(rt.Dst)
	e := n.find(rt, local)
	switch {
	case ev == Delete && e == nil:
		return
	case e != nil && e.doubt:
		// One of several came or went; which are left, only a dump tells.
		r.unsure[familyOf(rt.Dst)] = true
		return
	case ev == Delete && rt.Dst.Addr().Is6() && e.via.Value().Odd&rtnl.OddMultipath != 0:
		// One of the siblings went, and nobody tells of those that stay.
		e.doubt = true
		r.unsure[1] = true
	case ev == Delete:
		r.remove(rt.Dst, n, func(x *entry) bool { return x == e })
	case e == nil:
		r.insert(rt, local)
	case ev == Replace:
		r.setVia(rt.Dst, e, rt.Via)
	case e.via.Value() == rt.Via:
		return
	default:
		r.setVia(rt.Dst, e, rt.Via)
		e.doubt = true
		r.unsure[familyOf(rt.Dst)] = true
	}
	r.touchUnder(rt.Dst, local)
}

// BeginRoutes starts taking a full dump of a family in (unix.AF_INET or
// AF_INET6); it may be started over at any time.
func (r *RIB) BeginRoutes(family int) { r.gen[index(family)]++ }

// DumpedRoute takes one route of a dump in. Two of the same key are a doubt.
func (r *RIB) DumpedRoute(rt rtnl.Route) {
	local, ok := tableLocal(rt.Table)
	if !ok {
		return
	}
	r.noteLocal(rt)
	gen := r.gen[familyOf(rt.Dst)]
	n, _ := r.nodes.Get(rt.Dst)
	e := n.find(rt, local)
	switch {
	case e == nil:
		r.insert(rt, local)
	case e.gen == gen:
		if e.doubt {
			return
		}
		e.doubt = true
	case e.via.Value() == rt.Via && !e.doubt:
		e.gen = gen
		return
	default:
		e.gen = gen
		r.setVia(rt.Dst, e, rt.Via)
		e.doubt = false
	}
	r.touchUnder(rt.Dst, local)
}

// EndRoutes drops what a completed dump of a family did not show.
func (r *RIB) EndRoutes(family int) {
	i := index(family)
	gen := r.gen[i]
	r.unsure[i] = false
	all := r.nodes.All4()
	if i == 1 {
		all = r.nodes.All6()
	}
	type stale struct {
		p netip.Prefix
		n *node
	}
	var gone []stale
	for p, n := range all {
		for k := range n.entries {
			if n.entries[k].gen != gen {
				gone = append(gone, stale{p, n})
				break
			}
		}
	}
	for _, s := range gone {
		local := s.n.local() > 0
		r.remove(s.p, s.n, func(e *entry) bool { return e.gen != gen })
		r.touchUnder(s.p, local)
	}
}

func (r *RIB) insert(rt rtnl.Route, local bool) {
	e := entry{via: unique.Make(rt.Via), metric: rt.Metric, gen: r.gen[familyOf(rt.Dst)], tos: rt.TOS, local: local}
	n, ok := r.nodes.Get(rt.Dst)
	if !ok {
		n = &node{}
		r.nodes.Insert(rt.Dst, n)
	}
	// Most prefixes have one route for ever: no spare capacity.
	n.entries = append(n.entries[:len(n.entries):len(n.entries)], e)
	r.countRealm(rt.Dst, rt.Via, 1)
	if local && !rt.Dst.IsSingleIP() {
		r.wide.Insert(rt.Dst, struct{}{})
	}
}

func (r *RIB) remove(p netip.Prefix, n *node, gone func(*entry) bool) {
	keep := make([]entry, 0, len(n.entries))
	for i := range n.entries {
		e := &n.entries[i]
		if !gone(e) {
			keep = append(keep, *e)
			continue
		}
		r.countRealm(p, e.via.Value(), -1)
	}
	n.entries = keep
	if n.local() == 0 {
		r.wide.Delete(p)
	}
	if len(keep) == 0 {
		r.nodes.Delete(p)
	}
}

func (r *RIB) setVia(p netip.Prefix, e *entry, v rtnl.Via) {
	r.countRealm(p, e.via.Value(), -1)
	e.via = unique.Make(v)
	r.countRealm(p, v, 1)
}

func (r *RIB) countRealm(p netip.Prefix, v rtnl.Via, d int) {
	if v.Realm && p.Addr().Is4() {
		r.realms += d
	}
}

func (r *RIB) noteLocal(rt rtnl.Route) {
	if rt.Via.Type == unix.RTN_LOCAL && rt.Protocol != unix.RTPROT_KERNEL && rt.Dst.Addr().Is4() {
		r.ownLocal = true
	}
}

func (n *node) find(rt rtnl.Route, local bool) *entry {
	if n == nil {
		return nil
	}
	for i := range n.entries {
		e := &n.entries[i]
		if e.local == local && e.tos == rt.TOS && e.metric == rt.Metric {
			return e
		}
	}
	return nil
}

func (n *node) local() (count int) {
	for i := range n.entries {
		if n.entries[i].local {
			count++
		}
	}
	return count
}

func index(family int) int {
	if family == unix.AF_INET6 {
		return 1
	}
	return 0
}
