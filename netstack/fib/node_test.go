package fib

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"weir/internal/testenv"
)

// some makes n prefixes that nest and share octets.
func some(r *rand.Rand, n int) (out []Change) {
	for range n {
		var a [16]byte
		for i := range a {
			a[i] = byte(r.IntN(2)) * byte(1+r.IntN(2)*128)
		}
		p := netip.PrefixFrom(netip.AddrFrom16(a), r.IntN(129))
		if r.IntN(2) == 0 {
			p = netip.PrefixFrom(netip.AddrFrom4([4]byte(a[:])), r.IntN(33))
		}
		out = append(out, Change{Prefix: p.Masked(), Value: r.Uint32N(4)})
	}
	return out
}

// TestShape: a table's nodes depend on what it holds alone, not on the way
// there, and keep their rules: nothing is left behind by what came and went.
func TestShape(t *testing.T) {
	r := testenv.Rand(t)
	for range 40 {
		keep := some(r, 1+r.IntN(60))
		held := map[netip.Prefix]uint32{}
		for _, c := range keep {
			held[c.Prefix] = c.Value
		}
		tab := New()
		for _, c := range some(r, 200) { // what goes again
			tab = tab.With([]Change{c})
		}
		for p := range tab.All() {
			tab = tab.With([]Change{{Prefix: p, Delete: true}})
		}
		if got, want := dump(tab), dump(New()); got != want {
			t.Fatalf("empty again, and yet\n%s", got)
		}
		var fresh []Change
		for p, v := range held {
			fresh = append(fresh, Change{Prefix: p, Value: v})
		}
		for _, c := range keep {
			tab = tab.With([]Change{c})
		}
		if got, want := dump(tab), dump(New().With(fresh)); got != want {
			t.Fatalf("one by one\n%s\nat once\n%s", got, want)
		}
	}
}

// dump writes the nodes of a table down, and panics where their rules are broken.
func dump(t *Table) string {
	return dumpNode(t.v4.root, "v4 ", true) + dumpNode(t.v6.root, "v6 ", true)
}

func dumpNode(n *node, path string, root bool) string {
	out := fmt.Sprintf("%s%v %v %v %x\n", path, n.entries, n.values, n.runs.word, n.below.word)
	nodes := 0
	for i := range n.subs {
		s := n.subs[i]
		if (s.node == nil) == (s.leaf == nil) {
			panic("fib: a sub is a node or a leaf")
		}
		if s.node != nil {
			nodes++
			out += dumpNode(s.node, fmt.Sprintf("%s%d ", path, i), false)
		} else {
			out += fmt.Sprintf("%s%d %v\n", path, i, *s.leaf)
		}
	}
	members := 0
	for o := range 256 {
		if n.below.below(uint8(o)) != members {
			panic("fib: ranks are wrong")
		}
		if n.below.has(uint8(o)) {
			members++
		}
	}
	if members != len(n.subs) || n.fresh || n.stale || !root && nodes == 0 && len(n.entries)+len(n.subs) < 2 {
		panic("fib: a node breaks its rules: " + out)
	}
	return out
}

// TestPrefixRoundTrip: every length of both families comes back as it went in.
func TestPrefixRoundTrip(t *testing.T) {
	r := testenv.Rand(t)
	for range 2000 {
		var a [16]byte
		binary.BigEndian.PutUint64(a[0:], r.Uint64())
		binary.BigEndian.PutUint64(a[8:], r.Uint64())
		p := netip.PrefixFrom(netip.AddrFrom16(a), r.IntN(129)).Masked()
		if got := prefixOf(p).netip6(); got != p {
			t.Fatalf("%v came back as %v", p, got)
		}
		q := netip.PrefixFrom(netip.AddrFrom4([4]byte(a[:])), r.IntN(33)).Masked()
		if got := prefixOf(q).netip4(); got != q {
			t.Fatalf("%v came back as %v", q, got)
		}
		// The octets in front and the part within the last one make the whole.
		k := prefixOf(p)
		for depth := range 16 {
			if i, ok := endsAt(k, depth); ok {
				if got := k.with(depth, i); got != k {
					t.Fatalf("%v at octet %d is %v again", k, depth, got)
				}
				break
			}
		}
		for _, b := range []netip.Addr{netip.AddrFrom16(a), p.Addr()} {
			x := b.As16()
			x[r.IntN(16)] ^= byte(r.IntN(2)) << r.IntN(8)
			if got, want := k.holds(binary.BigEndian.Uint64(x[0:]), binary.BigEndian.Uint64(x[8:])), p.Contains(netip.AddrFrom16(x)); got != want {
				t.Fatalf("%v holds %v: %v, want %v", p, netip.AddrFrom16(x), got, want)
			}
		}
	}
}
