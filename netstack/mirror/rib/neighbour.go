package rib

import (
	"net/netip"
	"slices"

	"weir/netstack/mirror/rtnl"
)

// Neighbour takes in that the kernel holds an entry (RTM_NEWNEIGH, or a dump's).
func (r *RIB) Neighbour(n rtnl.Neighbour) {
	k := neighbourKey{n.IfIndex, n.Addr}
	e := r.neighbours[k]
	if e == nil {
		e = &neighbour{key: k}
		r.neighbours[k] = e
	}
	e.gen = r.neighGen
	if !e.known {
		e.known = true
		p := hostPrefix(n.Addr)
		h, _ := r.hosts.Get(p)
		r.hosts.Insert(p, append(slices.Clip(h), e))
	}
	r.setNeighbour(e, n.MAC, n.Valid, n.Stale)
}

// NoNeighbour takes in that the kernel has dropped an entry (RTM_DELNEIGH).
func (r *RIB) NoNeighbour(n rtnl.Neighbour) {
	if e := r.neighbours[neighbourKey{n.IfIndex, n.Addr}]; e != nil && e.known {
		r.forget(e)
	}
}

// BeginNeighbours starts taking a full dump in.
func (r *RIB) BeginNeighbours() { r.neighGen++ }

// EndNeighbours drops what a completed dump did not show.
func (r *RIB) EndNeighbours() {
	for _, e := range r.neighbours {
		if e.known && e.gen != r.neighGen {
			r.forget(e)
		}
	}
}

func (r *RIB) forget(e *neighbour) {
	e.known = false
	p := hostPrefix(e.key.addr)
	h, _ := r.hosts.Get(p)
	h = slices.DeleteFunc(slices.Clone(h), func(x *neighbour) bool { return x == e })
	if len(h) == 0 {
		r.hosts.Delete(p)
	} else {
		r.hosts.Insert(p, h)
	}
	r.setNeighbour(e, [6]byte{}, false, false)
	r.reap(e)
}

// reap lets go of a neighbour that neither the kernel nor a next hop knows.
func (r *RIB) reap(e *neighbour) {
	if !e.known && len(e.hops) == 0 {
		delete(r.neighbours, e.key)
	}
}

func (r *RIB) setNeighbour(e *neighbour, mac [6]byte, valid, stale bool) {
	if e.mac == mac && e.valid == valid && e.stale == stale {
		return
	}
	if e.valid != valid {
		r.touch(hostPrefix(e.key.addr))
	}
	e.mac, e.valid, e.stale = mac, valid, stale
	for _, id := range e.hops {
		r.hops.touch(id)
	}
}

func hostPrefix(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, a.BitLen()) }

// HopNeighbour is the neighbour behind a next hop id; stale is false too when
// there is none or it is not resolved.
func (r *RIB) HopNeighbour(id uint32) (ifIndex uint32, addr netip.Addr, stale bool) {
	if id >= uint32(len(r.hops.all)) || r.hops.all[id].to == nil {
		return 0, addr, false
	}
	n := r.hops.all[id].to
	return n.key.ifIndex, n.key.addr, n.stale
}
