package fib_test

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"sync"
	"testing"

	"weir/internal/testenv"
	"weir/netstack/fib"
)

// randomAddr makes addresses that share prefixes often, so that routes nest.
func randomAddr(r *rand.Rand, six bool) netip.Addr {
	if six {
		a := [16]byte{0x20, 0x01, 0x0d, 0xb8}
		for i := 4; i < 16; i++ {
			a[i] = byte(r.IntN(3)) * byte(1+r.IntN(2)*127)
		}
		return netip.AddrFrom16(a)
	}
	return netip.AddrFrom4([4]byte{byte(10 + r.IntN(2)), byte(r.IntN(3)), byte(r.IntN(4)) << 6, byte(r.Uint32())})
}

func randomPrefix(r *rand.Rand) netip.Prefix {
	a := randomAddr(r, r.IntN(2) == 0)
	return netip.PrefixFrom(a, r.IntN(a.BitLen()+1)).Masked()
}

// slowLookup is the twin: every prefix looked at.
func slowLookup(m map[netip.Prefix]uint32, a netip.Addr) (v uint32, found bool) {
	bits := -1
	for p, x := range m {
		if p.Contains(a) && p.Bits() > bits {
			bits, v, found = p.Bits(), x, true
		}
	}
	return v, found
}

func lookup(t *fib.Table, a netip.Addr) (uint32, bool) {
	if a.Is4() {
		return t.Lookup4(a.As4())
	}
	return t.Lookup6(a.As16())
}

// TestAgainstTwin applies random rounds of changes and compares look-ups, exact
// matches, the listing and the count with a map; and that the table before each
// round still is what it was. Values repeat, so that neighbours merge.
func TestAgainstTwin(t *testing.T) {
	r := testenv.Rand(t)
	tab, want := fib.New(), map[netip.Prefix]uint32{}
	for round := range 50 {
		old, oldWant := tab, maps.Clone(want)
		var changes []fib.Change
		for range 1 + r.IntN(40) {
			c := fib.Change{Prefix: randomPrefix(r), Value: r.Uint32N(3) * 0x7fffffff, Delete: r.IntN(4) == 0}
			if c.Delete && r.IntN(2) == 0 {
				for p := range want { // one that is there
					c.Prefix = p
					break
				}
			}
			changes = append(changes, c)
			if c.Delete {
				delete(want, c.Prefix)
			} else {
				want[c.Prefix] = c.Value
			}
		}
		tab = tab.With(changes)
		equal(t, r, round, tab, want)
		equal(t, r, round, old, oldWant)
	}
}

func equal(t *testing.T, r *rand.Rand, round int, tab *fib.Table, want map[netip.Prefix]uint32) {
	t.Helper()
	if got := maps.Collect(tab.All()); !maps.Equal(got, want) {
		t.Fatalf("round %d: holds %v, want %v", round, got, want)
	}
	var n4, n6 int
	for p, v := range want {
		if p.Addr().Is4() {
			n4++
		} else {
			n6++
		}
		if got, ok := tab.Get(p); !ok || got != v {
			t.Fatalf("round %d: %v is %d, %v, want %d", round, p, got, ok, v)
		}
		if q := randomPrefix(r); q != p {
			got, ok := tab.Get(q)
			if v, has := want[q]; ok != has || got != v {
				t.Fatalf("round %d: %v is %d, %v, want %d, %v", round, q, got, ok, v, has)
			}
		}
	}
	if a, b := tab.Len(); a != n4 || b != n6 {
		t.Fatalf("round %d: %d and %d prefixes, want %d and %d", round, a, b, n4, n6)
	}
	for range 200 {
		a := randomAddr(r, r.IntN(2) == 0)
		got, ok := lookup(tab, a)
		if v, has := slowLookup(want, a); ok != has || ok && got != v {
			t.Fatalf("round %d: %v leads to %d, %v, want %d, %v", round, a, got, ok, v, has)
		}
	}
}

// TestDefaultAndHostRoutes has the ends of both families.
func TestDefaultAndHostRoutes(t *testing.T) {
	p := netip.MustParsePrefix
	tab := fib.New().With([]fib.Change{
		{Prefix: p("0.0.0.0/0"), Value: 1}, {Prefix: p("255.255.255.255/32"), Value: 2},
		{Prefix: p("::/0"), Value: 3}, {Prefix: p("ff::ff/128"), Value: 4},
		{Prefix: p("::ffff:0:0/96"), Value: 5}, // mapped addresses are IPv6 here
	})
	for a, want := range map[string]uint32{
		"0.0.0.0": 1, "255.255.255.254": 1, "255.255.255.255": 2,
		"::": 3, "ff::fe": 3, "ff::ff": 4, "::ffff:1.2.3.4": 5,
	} {
		if got, ok := lookup(tab, netip.MustParseAddr(a)); !ok || got != want {
			t.Errorf("%s leads to %d, %v, want %d", a, got, ok, want)
		}
	}
	if v, ok := fib.New().Lookup4([4]byte{}); ok {
		t.Errorf("an empty table leads to %d", v)
	}
}

// TestOddChanges: bits behind the length do not count, deleting what is not
// there and changing an invalid prefix do nothing, and None is refused.
func TestOddChanges(t *testing.T) {
	p := netip.MustParsePrefix
	tab := fib.New().With([]fib.Change{
		{Prefix: p("10.1.2.3/8"), Value: 1},
		{Prefix: p("10.0.0.0/9"), Delete: true}, {Prefix: p("10.0.0.0/32"), Delete: true}, {Prefix: p("::/0"), Delete: true},
		{Value: 5}, {Delete: true},
	})
	if got := maps.Collect(tab.All()); !maps.Equal(got, map[netip.Prefix]uint32{p("10.0.0.0/8"): 1}) {
		t.Errorf("holds %v", got)
	}
	if v, ok := tab.Get(p("10.9.9.9/8")); !ok || v != 1 {
		t.Errorf("10.9.9.9/8 is %d, %v", v, ok)
	}
	if v, ok := tab.Get(netip.Prefix{}); ok {
		t.Errorf("no prefix is %d", v)
	}
	for range tab.All() {
		break // a reader may stop
	}
	defer func() {
		if recover() == nil {
			t.Error("None was taken as a value")
		}
	}()
	tab.With([]fib.Change{{Prefix: p("10.0.0.0/8"), Value: fib.None}})
}

// TestReadersNeedNoLock has readers use tables while a writer makes new ones
// from them; the race detector is the judge, and each table must stay right.
func TestReadersNeedNoLock(t *testing.T) {
	seed := testenv.Rand(t)
	p := netip.MustParsePrefix("10.1.0.0/16")
	tab := fib.New().With([]fib.Change{{Prefix: netip.MustParsePrefix("10.0.0.0/8"), Value: 7}, {Prefix: p, Value: 1}})
	tables := make(chan *fib.Table, 64)
	var wg sync.WaitGroup
	for range 3 {
		r := rand.New(rand.NewPCG(seed.Uint64(), 0))
		wg.Go(func() {
			for tab := range tables {
				want, _ := tab.Get(p)
				for range 20 {
					if got, _ := tab.Lookup4([4]byte{10, 1, byte(r.Uint32()) | 1, 1}); got != want {
						t.Errorf("leads to %d, want %d", got, want)
						return
					}
					if got, _ := tab.Lookup4([4]byte{10, 2, 0, 1}); got != 7 {
						t.Errorf("leads to %d, want 7", got)
						return
					}
				}
			}
		})
	}
	for i := range 2000 {
		host := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(i) &^ 1, byte(i >> 8)}), 32)
		tab = tab.With([]fib.Change{{Prefix: p, Value: uint32(i)}, {Prefix: host, Value: 9, Delete: i%3 == 0}})
		tables <- tab
	}
	close(tables)
	wg.Wait()
}

// routes makes n distinct prefixes in the mix of lengths that the Internet's
// table has, roughly: most /24 and /48, then /22 to /16 and /32 to /44.
func routes(r *rand.Rand, n int, six bool) []fib.Change {
	var out []fib.Change
	seen := map[netip.Prefix]bool{}
	for len(out) < n {
		var p netip.Prefix
		if six {
			var a [16]byte
			binary.BigEndian.PutUint64(a[:], r.Uint64()>>3|1<<61)
			p = netip.PrefixFrom(netip.AddrFrom16(a), []int{48, 48, 48, 32, 36, 40, 44, 64}[r.IntN(8)]).Masked()
		} else {
			var a [4]byte
			binary.BigEndian.PutUint32(a[:], 1<<24+r.Uint32N(223<<24))
			p = netip.PrefixFrom(netip.AddrFrom4(a), []int{24, 24, 24, 24, 24, 22, 23, 20, 21, 19, 16, 18}[r.IntN(12)]).Masked()
		}
		if !seen[p] {
			seen[p] = true
			out = append(out, fib.Change{Prefix: p, Value: uint32(1 + r.IntN(8))})
		}
	}
	return out
}

// TestMemory says what a route costs, and holds it to a bound: 100,000 routes
// have to fit a small board beside everything else. One change more must share
// the rest.
func TestMemory(t *testing.T) {
	r := testenv.Rand(t)
	const n = 20_000
	for _, c := range []struct {
		name              string
		six               bool
		perRoute, aChange int // at most, in bytes
	}{{"IPv4", false, 160, 32 << 10}, {"IPv6", true, 320, 64 << 10}} {
		list := routes(r, n, c.six)
		before := heap()
		tab := fib.New().With(list)
		per := int(heap()-before) / n
		one := routes(r, 1, c.six)
		var a, b runtime.MemStats
		runtime.ReadMemStats(&a)
		next := tab.With(one)
		runtime.ReadMemStats(&b)
		change := int(b.TotalAlloc - a.TotalAlloc)
		t.Logf("%s: %d bytes a route, %d a change", c.name, per, change)
		if per > c.perRoute || change > c.aChange {
			t.Errorf("%s: planned for at most %d bytes a route and %d a change", c.name, c.perRoute, c.aChange)
		}
		runtime.KeepAlive(tab)
		runtime.KeepAlive(next)
		runtime.KeepAlive(list)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestNoAllocation(t *testing.T) {
	r := testenv.Rand(t)
	tab := fib.New().With(append(routes(r, 1000, false), routes(r, 1000, true)...))
	if n := testing.AllocsPerRun(100, func() {
		tab.Lookup4([4]byte{10, 1, 2, 3})
		tab.Lookup6([16]byte{0x20, 1})
	}); n != 0 {
		t.Fatalf("%v allocations a look-up", n)
	}
}

func BenchmarkLookup4(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	tab := fib.New().With(routes(r, 1000, false))
	var addrs [1024][4]byte
	for i := range addrs {
		binary.BigEndian.PutUint32(addrs[i][:], r.Uint32())
	}
	i := 0
	for b.Loop() {
		tab.Lookup4(addrs[i&1023])
		i++
	}
}

func BenchmarkLookup6(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	tab := fib.New().With(routes(r, 1000, true))
	var addrs [1024][16]byte
	for i := range addrs {
		binary.BigEndian.PutUint64(addrs[i][:], r.Uint64()>>3|1<<61)
	}
	i := 0
	for b.Loop() {
		tab.Lookup6(addrs[i&1023])
		i++
	}
}

// BenchmarkWith changes one route of 100,000.
func BenchmarkWith(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	list := routes(r, 100_000, false)
	before := heap()
	tab := fib.New().With(list)
	perRoute := float64(heap()-before) / float64(len(list))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c := list[i%len(list)]
		c.Value = uint32(i)
		tab = tab.With([]fib.Change{c})
		i++
	}
	b.ReportMetric(perRoute, "B/route")
}

// BenchmarkDump makes a table of 100,000 routes at once, as after a full dump.
func BenchmarkDump(b *testing.B) {
	list := routes(rand.New(rand.NewPCG(1, 2)), 100_000, false)
	for b.Loop() {
		fib.New().With(list)
	}
}
