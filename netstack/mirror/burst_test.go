package mirror

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/nl"
	"weir/netstack/snapshot"
)

// routes sends n route messages for 10.64.0.0/10's /32s, 200 to a system call.
func (b *bed) routes(typ, flags uint16, first, n int, gateway string, metric uint32) {
	b.Helper()
	gw := netip.MustParseAddr(gateway).As4()
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	b.must(err)
	defer unix.Close(fd)
	var out []byte
	flush := func() {
		b.must(unix.Sendto(fd, out, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}))
		out = out[:0]
	}
	for i := range n {
		body := make([]byte, unix.SizeofRtMsg)
		body[0], body[1], body[4], body[5], body[7] = unix.AF_INET, 32, unix.RT_TABLE_MAIN, unix.RTPROT_STATIC, unix.RTN_UNICAST
		dst := binary.BigEndian.AppendUint32(nil, 10<<24|64<<16|uint32(first+i))
		body = nl.AppendAttr(body, unix.RTA_DST, dst)
		body = nl.AppendAttr(body, unix.RTA_GATEWAY, gw[:])
		if metric != 0 {
			body = nl.AppendAttr(body, unix.RTA_PRIORITY, binary.NativeEndian.AppendUint32(nil, metric))
		}
		var h []byte
		h = binary.NativeEndian.AppendUint32(h, uint32(unix.SizeofNlMsghdr+len(body)))
		h = binary.NativeEndian.AppendUint16(h, typ)
		h = binary.NativeEndian.AppendUint16(h, flags|unix.NLM_F_REQUEST)
		h = binary.NativeEndian.AppendUint32(h, uint32(i))
		h = binary.NativeEndian.AppendUint32(h, 0)
		out = append(append(out, h...), body...)
		if i%200 == 199 {
			flush()
		}
	}
	if len(out) > 0 {
		flush()
	}
}

const (
	create  = unix.NLM_F_CREATE | unix.NLM_F_EXCL
	replace = unix.NLM_F_CREATE | unix.NLM_F_REPLACE
)

// count4 is the number of host routes of the burst in a snapshot.
func count4(s *snapshot.Snapshot) int {
	v4, _ := s.FIB.Len()
	return v4
}

func TestBurst(t *testing.T) {
	const n = burst
	b := newBed(t, nil)
	b.neigh("10.2.0.2 wan 02:00:00:00:00:22 permanent")
	b.neigh("10.1.0.2 lan 02:00:00:00:00:12 permanent")
	b.gets("10.2.0.2", "wan 22")
	b.gets("10.1.0.2", "lan 12")
	base := count4(b.m.Current())
	start := time.Now()
	b.routes(unix.RTM_NEWROUTE, create, 0, n, "10.2.0.2", 0)
	b.wait("all routes are there", func(s *snapshot.Snapshot) bool { return count4(s) == base+n })
	added := time.Since(start)
	b.gets("10.64.1.1", "wan 22")
	if hops := len(b.m.Current().NextHops); hops > 20 {
		t.Errorf("%d next hops for two gateways", hops)
	}
	start = time.Now()
	b.routes(unix.RTM_NEWROUTE, replace, 0, n, "10.1.0.2", 0)
	b.gets(fmt.Sprintf("10.64.%d.%d", (n-1)>>8, (n-1)&255), "lan 12") // the last one
	replaced := time.Since(start)
	b.gets("10.64.1.1", "lan 12")
	start = time.Now()
	b.routes(unix.RTM_DELROUTE, 0, 0, n, "10.1.0.2", 0)
	b.wait("all routes are gone", func(s *snapshot.Snapshot) bool { return count4(s) == base })
	s := b.m.Stats()
	t.Logf("%d routes added in %v, replaced in %v, removed in %v, in %d snapshots; newest took %v; %d overruns",
		n, added, replaced, time.Since(start), s.Published, s.LastApply, s.Overruns)
	if s.Published > n {
		t.Errorf("%d snapshots for %d changes: bursts are not gathered", s.Published, 3*n)
	}
}

// TestOverrun loses events on purpose, with a receive buffer that holds none to
// speak of, and the mirror ends in the kernel's state all the same.
func TestOverrun(t *testing.T) {
	const n = 5000
	b := newBed(t, func(c *Config) { c.EventBuffer = 4096 })
	b.neigh("10.2.0.2 wan 02:00:00:00:00:22 permanent")
	b.gets("10.2.0.2", "wan 22")
	base := count4(b.m.Current())
	b.routes(unix.RTM_NEWROUTE, create, 0, n, "10.2.0.2", 0)
	b.wait("all routes are there", func(s *snapshot.Snapshot) bool { return count4(s) == base+n })
	if s := b.m.Stats(); s.Overruns == 0 || s.Resyncs < 2 {
		t.Fatalf("no event was lost (%+v): the test shows nothing", s)
	}
	b.neigh("10.2.0.2 wan 02:00:00:00:00:23 permanent")
	b.gets("10.64.1.1", "wan 23")
	b.routes(unix.RTM_DELROUTE, 0, 0, n, "10.2.0.2", 0)
	b.wait("all routes are gone", func(s *snapshot.Snapshot) bool { return count4(s) == base })
}

// TestChanged: the prefixes that OnChange names are exactly those whose entry
// differs, so that maps written from them alone equal the snapshot.
func TestChanged(t *testing.T) {
	table := make(map[netip.Prefix]snapshot.NextHop)
	var wrong atomic.Value
	b := newBed(t, func(c *Config) {
		c.OnChange = func(prev, next *snapshot.Snapshot, changed []netip.Prefix) {
			if (prev == nil) != (changed == nil) {
				wrong.Store("only the first snapshot is everything")
				return
			}
			if prev == nil {
				for p, id := range next.FIB.All() {
					table[p] = next.NextHops[id]
				}
				return
			}
			if next.Generation != prev.Generation+1 {
				wrong.Store("a generation is missing")
			}
			for _, p := range changed {
				delete(table, p)
				if id, ok := next.FIB.Get(p); ok {
					table[p] = next.NextHops[id]
				}
			}
			n := 0
			for p, id := range next.FIB.All() {
				n++
				have, ok := table[p]
				was, _ := prev.FIB.Get(p)
				if want := next.NextHops[id]; !ok || have != want && was != id {
					wrong.Store(p.String() + " changed and was not named")
				}
				table[p] = next.NextHops[id] // a changed next hop is found by comparing them
			}
			if n != len(table) {
				wrong.Store("a prefix went and was not named")
			}
		}
	})
	for i := range 4 {
		b.neigh("10.2.0.2 wan 02:00:00:00:00:22 permanent")
		b.add("0.0.0.0/0 via 10.2.0.2")
		b.routes(unix.RTM_NEWROUTE, create, 0, 300, "10.2.0.2", 0)
		b.gets("10.64.1.43", "wan 22")
		b.neigh("10.2.0.2 wan 02:00:00:00:00:22 failed")
		b.gets("10.64.1.43", "no-neighbour")
		b.routes(unix.RTM_DELROUTE, 0, 0, 300, "10.2.0.2", 0)
		b.del("0.0.0.0/0 via 10.2.0.2")
		b.gets("10.64.1.43", "no entry")
		if w := wrong.Load(); w != nil {
			t.Fatalf("round %d: %v", i, w)
		}
	}
}
