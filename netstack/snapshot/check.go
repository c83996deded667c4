package snapshot

import (
	"errors"
	"fmt"

	"weir/netstack/frame"
)

// Check says what is wrong with a Snapshot, in one error that joins all of it;
// nil if every tier may trust it. It walks the whole FIB: for tests, and for
// whoever builds a Snapshot from scratch.
func (s *Snapshot) Check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(s.Ports) > frame.MaxPorts {
		bad("%d ports: at most %d fit", len(s.Ports), frame.MaxPorts)
	}
	seen := map[int]string{}
	for id, p := range s.Ports {
		if p.IfIndex == 0 {
			if p.Fast4 || p.Fast6 {
				bad("port %d is unused and yet fast", id)
			}
			continue
		}
		if other, twice := seen[p.IfIndex]; twice {
			bad("ports %s and %s are both interface %d", other, p.Name, p.IfIndex)
		}
		seen[p.IfIndex] = p.Name
		if p.MAC == [6]byte{} || p.MAC[0]&1 != 0 {
			bad("port %s: % x is no station's MAC", p.Name, p.MAC)
		}
	}
	if len(s.NextHops) == 0 || s.NextHops[0] != (NextHop{}) {
		bad("next hop 0 must be the zero NextHop")
	}
	for id, h := range s.NextHops {
		switch {
		case h.Kind != KindForward:
		case int(h.Out) >= len(s.Ports) || s.Ports[h.Out].IfIndex == 0:
			bad("next hop %d leaves by port %d, which does not exist", id, h.Out)
		case h.MTU == 0:
			bad("next hop %d has no MTU", id)
		case h.DstMAC == [6]byte{} || h.DstMAC[0]&1 != 0:
			bad("next hop %d: % x is no station's MAC", id, h.DstMAC)
		case h.SrcMAC != s.Ports[h.Out].MAC:
			bad("next hop %d sends from % x, port %s is % x", id, h.SrcMAC, s.Ports[h.Out].Name, s.Ports[h.Out].MAC)
		}
	}
	if s.FIB == nil {
		bad("no FIB")
		return errors.Join(errs...)
	}
	for p, id := range s.FIB.All() {
		if int64(id) >= int64(len(s.NextHops)) {
			bad("%s leads to next hop %d of %d", p, id, len(s.NextHops))
		} else if id == 0 {
			bad("%s leads to next hop 0, which says nothing", p)
		}
	}
	return errors.Join(errs...)
}
