package snapshot_test

import (
	"net/netip"
	"strings"
	"testing"

	"weir/netstack/fib"
	"weir/netstack/frame"
	"weir/netstack/snapshot"
	"weir/netstack/snapshot/snaptest"
)

func good() *snapshot.Snapshot {
	b := snaptest.New()
	b.Port("lan", "02:00:00:00:00:01", 1500)
	wan := b.Port("wan", "02:00:00:00:00:02", 1500)
	b.Local("192.168.1.1")
	b.Route("0.0.0.0/0", b.NextHop(wan, "02:00:00:00:01:02"))
	return b.Snapshot()
}

// TestCheck breaks one thing at a time and wants it named.
func TestCheck(t *testing.T) {
	if err := good().Check(); err != nil {
		t.Fatal(err)
	}
	route := func(s *snapshot.Snapshot, id uint32) {
		s.FIB = s.FIB.With([]fib.Change{{Prefix: netip.MustParsePrefix("10.0.0.0/8"), Value: id}})
	}
	for _, c := range []struct {
		want  string
		wreck func(s *snapshot.Snapshot)
	}{
		{"65 ports", func(s *snapshot.Snapshot) {
			for len(s.Ports) < frame.MaxPorts+1 {
				s.Ports = append(s.Ports, snapshot.Port{})
			}
		}},
		{"unused and yet fast", func(s *snapshot.Snapshot) { s.Ports = append(s.Ports, snapshot.Port{Fast6: true}) }},
		{"both interface 10", func(s *snapshot.Snapshot) { s.Ports[1].IfIndex = 10 }},
		{"port lan: 00 00", func(s *snapshot.Snapshot) { s.Ports[0].MAC = [6]byte{} }},
		{"port lan: 01 00", func(s *snapshot.Snapshot) { s.Ports[0].MAC[0] = 1 }},
		{"next hop 0", func(s *snapshot.Snapshot) { s.NextHops[0].MTU = 1 }},
		{"next hop 0", func(s *snapshot.Snapshot) { s.NextHops, s.FIB = nil, fib.New() }},
		{"leaves by port 2", func(s *snapshot.Snapshot) { s.NextHops[2].Out = 2 }},
		{"leaves by port 1", func(s *snapshot.Snapshot) { s.Ports[1] = snapshot.Port{} }},
		{"no MTU", func(s *snapshot.Snapshot) { s.NextHops[2].MTU = 0 }},
		{"no station's MAC", func(s *snapshot.Snapshot) { s.NextHops[2].DstMAC[0] = 1 }},
		{"sends from", func(s *snapshot.Snapshot) { s.NextHops[2].SrcMAC[5]++ }},
		{"no FIB", func(s *snapshot.Snapshot) { s.FIB = nil }},
		{"10.0.0.0/8 leads to next hop 3 of 3", func(s *snapshot.Snapshot) { route(s, 3) }},
		{"10.0.0.0/8 leads to next hop 4294967294", func(s *snapshot.Snapshot) { route(s, fib.None-1) }},
		{"which says nothing", func(s *snapshot.Snapshot) { route(s, 0) }},
	} {
		s := good()
		c.wreck(s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}
