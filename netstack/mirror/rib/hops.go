package rib

import (
	"net/netip"
	"slices"

	"weir/netstack/frame"
	"weir/netstack/snapshot"
)

// hopKey is what makes a next hop: where, through whom, how large. Its MACs and
// whether it is resolved may change while its id stays.
type hopKey struct {
	port    frame.PortID
	ifIndex uint32 // of the port, as the route names it
	v6      bool   // the packets' family, which is not always the gateway's
	mtu     uint32
	addr    netip.Addr // the neighbour
}

// Fixed ids: entry 0 is the zero NextHop, then one kernel next hop per reason.
var kernelReasons = [...]frame.Reason{
	frame.ReasonNone, frame.ReasonLocal, frame.ReasonNoRoute, frame.ReasonKernelRoute, frame.ReasonUnresolved,
}

const fixedHops = uint32(len(kernelReasons))

func kernelHop(why frame.Reason) uint32 {
	return uint32(slices.Index(kernelReasons[:], why))
}

// hops hands out next hop ids and keeps their contents.
type hops struct {
	max     int
	ids     map[hopKey]uint32
	all     []hop               // by id
	content []snapshot.NextHop  // by id; shared with snapshots, copied before a change
	free    []uint32            // may be given out
	dirty   map[uint32]struct{} // contents to work out again
	unused  map[uint32]struct{} // no reference any more, as it seems
	starved bool                // an id was refused since the last Commit that had one free
}

type hop struct {
	key  hopKey
	refs int
	to   *neighbour
}

func (h *hops) init(limit int) {
	h.max = limit
	h.ids = make(map[hopKey]uint32)
	h.dirty = make(map[uint32]struct{})
	h.unused = make(map[uint32]struct{})
	h.all = make([]hop, fixedHops)
	for _, why := range kernelReasons {
		h.content = append(h.content, snapshot.NextHop{Kind: snapshot.KindKernel, Reason: why})
	}
}

func (h *hops) touch(id uint32) { h.dirty[id] = struct{}{} }

func (h *hops) touchPort(port frame.PortID) {
	for k, id := range h.ids {
		if k.port == port {
			h.touch(id)
		}
	}
}

// hopID finds or makes the id of a key; ok is false when all are taken.
func (r *RIB) hopID(k hopKey) (id uint32, ok bool) {
	h := &r.hops
	if id, ok = h.ids[k]; ok {
		return id, true
	}
	switch {
	case len(h.free) > 0:
		id, h.free = h.free[len(h.free)-1], h.free[:len(h.free)-1]
	case len(h.all) < h.max:
		id = uint32(len(h.all))
		h.all = append(h.all, hop{})
	default:
		h.starved = true
		return 0, false
	}
	nk := neighbourKey{k.ifIndex, k.addr}
	n := r.neighbours[nk]
	if n == nil {
		n = &neighbour{key: nk}
		r.neighbours[nk] = n
	}
	n.hops = append(n.hops, id)
	h.ids[k] = id
	h.all[id] = hop{key: k, to: n}
	h.touch(id)
	return id, true
}

func (h *hops) ref(id uint32) {
	if id >= fixedHops {
		h.all[id].refs++
		delete(h.unused, id)
	}
}

func (h *hops) unref(id uint32) {
	if id < fixedHops {
		return
	}
	h.all[id].refs--
	if h.all[id].refs == 0 {
		h.unused[id] = struct{}{}
	}
}

// contentOf works a next hop out from its port and neighbour.
func (r *RIB) contentOf(id uint32) snapshot.NextHop {
	e := &r.hops.all[id]
	if e.to == nil {
		return snapshot.NextHop{} // free
	}
	p := &r.ports[e.key.port]
	nh := snapshot.NextHop{Kind: snapshot.KindKernel, Out: e.key.port}
	switch {
	case !p.Out || p.IfIndex != e.key.ifIndex:
		nh.Reason = frame.ReasonOutSlow
	case !e.to.valid:
		nh.Reason = frame.ReasonUnresolved
	default:
		nh.Kind = snapshot.KindForward
		nh.DstMAC, nh.SrcMAC, nh.Stale = e.to.mac, p.MAC, e.to.stale
	}
	nh.MTU = hopMTU(e.key, p)
	return nh
}

// hopMTU is the smaller of the out port's and the route's, and for IPv6 never
// below the protocol's minimum (ip6_forward, net/ipv6/ip6_output.c).
func hopMTU(k hopKey, p *Port) uint32 {
	mtu := p.MTU4
	if k.v6 {
		mtu = p.MTU6
	}
	if k.mtu != 0 {
		mtu = min(mtu, k.mtu)
	}
	if k.v6 {
		mtu = max(mtu, 1280)
	}
	return mtu
}
