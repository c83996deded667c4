package main

import (
	"slices"

	"weir/netstack/frame"
	"weir/netstack/snapshot"
)

// overlay takes ports out of the fast path that the kernel's state would allow
// but the forwarder cannot carry: asked not to, no XDP, no socket. why names the
// reason by interface name. Without such a port the snapshot is returned as it
// is.
func overlay(s *snapshot.Snapshot, why map[string]string) *snapshot.Snapshot {
	var unfit [frame.MaxPorts]bool
	n := 0
	for id := range s.Ports {
		if _, bad := why[s.Ports[id].Name]; bad && s.Ports[id].IfIndex != 0 {
			unfit[id] = true
			n++
		}
	}
	if n == 0 {
		return s
	}
	c := *s
	c.Ports = slices.Clone(s.Ports)
	for id := range c.Ports {
		if p := &c.Ports[id]; unfit[id] {
			p.Fast4, p.Fast6 = false, false
			p.Slow = append([]string{why[p.Name]}, p.Slow...)
		}
	}
	c.NextHops = slices.Clone(s.NextHops)
	for id := range c.NextHops {
		if h := &c.NextHops[id]; h.Kind == snapshot.KindForward && int(h.Out) < len(unfit) && unfit[h.Out] {
			h.Kind, h.Reason = snapshot.KindKernel, frame.ReasonOutSlow
		}
	}
	return &c
}
