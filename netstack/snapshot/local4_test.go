package snapshot

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"

	"weir/internal/testenv"
)

func number(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}

// TestLocal4AgainstMap compares the set with a map, in sizes from none to many,
// of addresses close together as a router's are.
func TestLocal4AgainstMap(t *testing.T) {
	r := testenv.Rand(t)
	for _, n := range []int{0, 1, 2, 3, 4, 5, 16, 17, 64, 1000} {
		want := map[netip.Addr]bool{}
		var in []netip.Addr
		base := r.Uint32()
		for range n {
			var b [4]byte
			binary.BigEndian.PutUint32(b[:], base+r.Uint32N(uint32(2*n)))
			a := netip.AddrFrom4(b)
			in = append(in, a, a) // twice changes nothing
			if !a.IsUnspecified() {
				want[a] = true
			}
		}
		l := NewLocal4(in...)
		for k := base - 10; k != base+uint32(2*n)+10; k++ {
			var b [4]byte
			binary.BigEndian.PutUint32(b[:], k)
			if got := l.Has(k); got != want[netip.AddrFrom4(b)] {
				t.Fatalf("%d addresses: %v is %v", n, netip.AddrFrom4(b), got)
			}
		}
		all := l.All()
		if len(all) != len(want) {
			t.Fatalf("%d addresses of %d", len(all), len(want))
		}
		for _, a := range all {
			if !want[a] {
				t.Fatalf("%v was never added", a)
			}
		}
	}
}

func TestLocal4LeavesOut(t *testing.T) {
	l := NewLocal4(netip.MustParseAddr("0.0.0.0"), netip.MustParseAddr("::1"), netip.Addr{}, netip.MustParseAddr("10.0.0.1"))
	if got := l.All(); !slices.Equal(got, []netip.Addr{netip.MustParseAddr("10.0.0.1")}) {
		t.Fatalf("holds %v", got)
	}
	var none Local4
	if l.Has(0) || none.Has(0) || none.Has(number(netip.MustParseAddr("10.0.0.1"))) || len(none.All()) != 0 {
		t.Fatal("the empty set, or 0.0.0.0, has members")
	}
}

// TestLocal4Collisions has addresses that all want the same slot, and asks for
// others that do.
func TestLocal4Collisions(t *testing.T) {
	var same []netip.Addr
	for k := uint32(0x0a000001); len(same) < 8; k++ {
		if local4Hash(k)%16 == 15 { // the last of 16: the search goes around the end
			var b [4]byte
			binary.BigEndian.PutUint32(b[:], k)
			same = append(same, netip.AddrFrom4(b))
		}
	}
	l := NewLocal4(same[:4]...)
	if len(l.slots) != 16 {
		t.Fatalf("%d slots: the addresses above do not collide", len(l.slots))
	}
	for i, a := range same {
		if l.Has(number(a)) != (i < 4) {
			t.Errorf("%v is %v", a, i >= 4)
		}
	}
}
