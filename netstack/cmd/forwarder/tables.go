package main

import (
	"net/netip"

	"weir/drivers/xdp"
	"weir/netstack/frame"
	"weir/netstack/snapshot"
)

// writer keeps the XDP maps equal to the snapshot in force.
type writer struct {
	tables *xdp.Tables
	prev   *snapshot.Snapshot // what the maps hold; nil: nothing yet
}

// write brings the maps to next. changed are the prefixes that differ from
// prev; nil: all of them may. What becomes the kernel's is written before what
// becomes fast, and next hops before the routes that use them, so that no
// moment between lets a worker see a frame it would not know.
func (w *writer) write(next *snapshot.Snapshot, changed []netip.Prefix) error {
	if err := w.tables.SetOwn(next.Local4.All()); err != nil {
		return err
	}
	for id := range next.NextHops {
		h := xdpNextHop(next, uint32(id))
		if w.prev != nil && id < len(w.prev.NextHops) && h == xdpNextHop(w.prev, uint32(id)) {
			continue
		}
		if err := w.tables.SetNextHop(uint32(id), h); err != nil {
			return err
		}
	}
	if err := w.tables.SetRoutes(w.routes(next, changed)); err != nil {
		return err
	}
	w.prev = next
	return nil
}

// xdpNextHop is what the steering program has to know of a next hop.
func xdpNextHop(s *snapshot.Snapshot, id uint32) xdp.NextHop {
	h := &s.NextHops[id]
	if h.Kind != snapshot.KindForward || int(h.Out) >= len(s.Ports) {
		r := h.Reason
		if r == frame.ReasonNone {
			r = frame.ReasonKernelRoute
		}
		return xdp.NextHop{Reason: r}
	}
	return xdp.NextHop{IfIndex: s.Ports[h.Out].IfIndex, MTU: h.MTU}
}

// routes lists what differs between the maps and next.
func (w *writer) routes(next *snapshot.Snapshot, changed []netip.Prefix) []xdp.Route {
	var out []xdp.Route
	if w.prev == nil || changed == nil {
		for p, id := range next.FIB.All() {
			if w.prev != nil {
				if old, ok := w.prev.FIB.Get(p); ok && old == id {
					continue
				}
			}
			out = append(out, xdp.Route{Prefix: p, ID: id})
		}
		if w.prev != nil {
			for p := range w.prev.FIB.All() {
				if _, ok := next.FIB.Get(p); !ok {
					out = append(out, xdp.Route{Prefix: p, Delete: true})
				}
			}
		}
		return out
	}
	for _, p := range changed {
		if id, ok := next.FIB.Get(p); ok {
			out = append(out, xdp.Route{Prefix: p, ID: id})
		} else {
			out = append(out, xdp.Route{Prefix: p, Delete: true})
		}
	}
	return out
}
