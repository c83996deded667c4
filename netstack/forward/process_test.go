package forward_test

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"testing"

	"weir/internal/testenv"
	"weir/netstack/forward"
	"weir/netstack/frame"
	"weir/netstack/snapshot"
	"weir/netstack/snapshot/snaptest"
)

// Ports of the plan below.
const (
	lan frame.PortID = iota
	wan
	dmz  // MTU 1280
	slow // its IPv4 is on the kernel path
	numPorts
)

// plan is a router with a default route, nested prefixes, a narrow port, and
// every kind of next hop.
func plan() *snapshot.Snapshot {
	b := snaptest.New()
	b.Port("lan", "02:00:00:00:00:01", 1500)
	b.Port("wan", "02:00:00:00:00:02", 1500)
	b.Port("dmz", "02:00:00:00:00:03", 1280)
	b.Port("slow", "02:00:00:00:00:04", 1500)
	b.Slow(slow, true, false)

	b.Local("192.168.1.1", "203.0.113.5", "192.168.2.1", "2001:db8:1::1", "2001:db8:2::1")
	b.Kernel("192.168.1.0/24", frame.ReasonUnresolved)
	b.Kernel("192.168.1.255/32", frame.ReasonLocal) // broadcast
	b.Kernel("192.168.2.255/32", frame.ReasonLocal) // directed broadcast of another port
	b.Kernel("198.18.0.0/15", frame.ReasonKernelRoute)
	b.Kernel("2001:db8:1::/64", frame.ReasonUnresolved)

	gw := b.NextHop(wan, "02:00:00:00:01:02")
	b.Route("0.0.0.0/0", gw)
	b.Route("2000::/3", gw)
	b.Route("64:ff9b::/96", gw)
	host := b.NextHop(lan, "02:00:00:00:01:01")
	b.Route("192.168.1.10/32", host)
	b.Route("10.0.0.0/8", host)
	b.Route("2001:db8:1::10/128", host)
	narrow := b.NextHop(dmz, "02:00:00:00:01:03")
	b.Route("10.1.0.0/16", narrow)
	b.Route("2001:db8:3::/48", narrow)
	b.Route("10.1.2.0/24", b.NextHopMTU(wan, "02:00:00:00:01:04", 1400))
	return b.Snapshot()
}

func addrs4(list ...string) (out [][4]byte) {
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s).As4())
	}
	return out
}

func addrs6(list ...string) (out [][16]byte) {
	for _, s := range list {
		out = append(out, netip.MustParseAddr(s).As16())
	}
	return out
}

// grammar makes frames for one port of plan, mostly for other ports.
func grammar(r *rand.Rand, s *snapshot.Snapshot, in frame.PortID) *snaptest.Grammar {
	g := &snaptest.Grammar{
		R:       r,
		Station: s.Ports[in].MAC,
		Src4:    addrs4("192.168.1.10", "10.9.9.9", "198.51.100.7", "169.254.7.7", "192.168.1.255", "255.255.255.254"),
		Dst4:    addrs4("10.1.9.9", "10.1.2.9", "10.2.3.4"),
		Src6:    addrs6("2001:db8:1::10", "fd00::1", "2001:db8:1::1", "fec0::1"),
		Dst6:    addrs6("2001:db8:3::9", "2001:db8:1::10"),
		Odd4:    addrs4("192.168.1.1", "203.0.113.5", "192.168.2.255", "192.168.1.77", "198.19.1.1"),
		Odd6:    addrs6("2001:db8:1::1", "2001:db8:1::77", "5000::1", "::ffff:8.8.8.8"),
		MTU:     1500,
		Broken:  30,
	}
	if in == wan {
		g.Dst4 = append(g.Dst4, addrs4("192.168.1.10", "10.200.0.1", "10.3.0.1")...)
	} else {
		g.Dst4 = append(g.Dst4, addrs4("198.51.100.7", "8.8.8.8", "169.254.1.1", "240.1.2.3", "223.255.255.255", "128.0.0.1")...)
		g.Dst6 = append(g.Dst6, addrs6("2001:db8:9::1", "64:ff9b::808:808", "3fff::1")...)
	}
	return g
}

// process runs one frame through Process, in memory with guards on both sides.
func process(t testing.TB, s *snapshot.Snapshot, in frame.PortID, data []byte) frame.Frame {
	t.Helper()
	const guard = 64
	mem := bytes.Repeat([]byte{0xa5}, guard+len(data)+guard)
	copy(mem[guard:], data)
	b := &frame.Batch{N: 1}
	b.F[0] = frame.Frame{Data: mem[guard : guard+len(data)], In: in, Addr: 4711, Out: 9, NextHop: 99, Reason: 7}
	forward.Process(s, b)
	for i, c := range mem {
		if (i < guard || i >= guard+len(data)) && c != 0xa5 {
			t.Fatalf("byte %d outside of the frame changed", i-guard)
		}
	}
	f := b.F[0]
	if f.Addr != 4711 || f.In != in {
		t.Fatalf("Addr or In changed: %+v", f)
	}
	if n := len(f.Data); n > 0 && &f.Data[0] != &mem[guard] {
		t.Fatal("Data starts elsewhere")
	}
	// Bytes behind a trimmed packet stay too: the driver overwrites them.
	if !bytes.Equal(mem[guard+len(f.Data):guard+len(data)], data[len(f.Data):]) {
		t.Fatal("the trailer was changed")
	}
	return f
}

// TestAgainstTwin compares Process with the twin over random frames, in batches
// of every size, and demands that the run was worth something.
func TestAgainstTwin(t *testing.T) {
	r := testenv.Rand(t)
	s := plan()
	var grammars [numPorts]*snaptest.Grammar
	for p := range grammars {
		grammars[p] = grammar(r, s, frame.PortID(p))
	}
	total := 30_000
	if testing.Short() {
		total = 6_000
	}
	var seen [frame.NumReasons]int
	forwarded := 0
	for done := 0; done < total; {
		b := &frame.Batch{N: 1 + r.IntN(frame.BatchSize)}
		var before [frame.BatchSize][]byte
		for i := range b.F[:b.N] {
			in := lan
			if r.IntN(4) == 0 {
				in = frame.PortID(r.IntN(int(numPorts)))
			}
			before[i] = grammars[in].Frame()
			b.F[i] = frame.Frame{Data: bytes.Clone(before[i]), In: in}
		}
		forward.Process(s, b)
		for i := range b.F[:b.N] {
			got := b.F[i]
			data, want := twin(s, got.In, before[i])
			if got.Verdict != want.Verdict || got.Reason != want.Reason || got.Out != want.Out || got.NextHop != want.NextHop || !bytes.Equal(got.Data, data) {
				t.Fatalf("frame from port %d\n%x\nProcess: verdict %d reason %v out %d next hop %d\n%x\ntwin: verdict %d reason %v out %d next hop %d\n%x",
					got.In, before[i], got.Verdict, got.Reason, got.Out, got.NextHop, got.Data,
					want.Verdict, want.Reason, want.Out, want.NextHop, data)
			}
			if got.Verdict == frame.VerdictForward {
				forwarded++
			} else {
				seen[got.Reason]++
			}
		}
		done += b.N
	}
	t.Logf("%d frames, %d forwarded, punts:", total, forwarded)
	if forwarded < total/2 {
		t.Errorf("only %d of %d frames were forwarded", forwarded, total)
	}
	for reason := frame.ReasonNotIP; reason <= frame.ReasonPortSlow; reason++ {
		t.Logf("  %-14v %d", reason, seen[reason])
		if seen[reason] == 0 {
			t.Errorf("no frame was punted as %v", reason)
		}
	}
}

// TestNoAllocation: Process allocates nothing, whatever the frames are.
func TestNoAllocation(t *testing.T) {
	r := testenv.Rand(t)
	s := plan()
	g := grammar(r, s, lan)
	var fresh, b frame.Batch
	fresh.N = frame.BatchSize
	var mem, orig [frame.BatchSize][]byte
	for i := range fresh.F {
		orig[i] = g.Frame()
		mem[i] = bytes.Clone(orig[i])
		fresh.F[i] = frame.Frame{Data: mem[i], In: lan}
	}
	if n := testing.AllocsPerRun(200, func() {
		b = fresh
		for i := range mem {
			copy(mem[i], orig[i])
		}
		forward.Process(s, &b)
	}); n != 0 {
		t.Fatalf("%v allocations a batch", n)
	}
}

// TestUnknownPort: a frame from a port that the Snapshot does not have, which is
// what a worker sees for a moment after a port went away, is the kernel's.
func TestUnknownPort(t *testing.T) {
	s := plan()
	data := grammar(testenv.Rand(t), s, lan).Frame()
	for _, in := range []frame.PortID{numPorts, frame.MaxPorts, frame.NoPort} {
		if f := process(t, s, in, data); f.Verdict != frame.VerdictPunt || f.Reason != frame.ReasonPortSlow || !bytes.Equal(f.Data, data) {
			t.Errorf("from port %d: %+v", in, f)
		}
	}
}

// TestHopWithoutReason: a next hop that says nothing is the kernel's.
func TestHopWithoutReason(t *testing.T) {
	b := snaptest.New()
	b.Port("lan", "02:00:00:00:00:01", 1500)
	b.Kernel("0.0.0.0/0", frame.ReasonNone)
	s := b.Snapshot()
	f := process(t, s, lan, ether(s, lan, "4500001c66ce00004011feff0a0000020a000102"+"0000000000080000"))
	if f.Verdict != frame.VerdictPunt || f.Reason != frame.ReasonKernelRoute {
		t.Fatalf("%+v", f)
	}
}
