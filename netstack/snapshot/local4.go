package snapshot

import (
	"encoding/binary"
	"net/netip"
)

// Local4 is the set of the router's own IPv4 addresses, for one question a
// packet: does its source pretend to be us? The kernel drops such a packet
// (inet_lookup_ifaddr_rcu in fib_validate_source, net/ipv4/fib_frontend.c). An
// exact set costs a multiplication and, nearly always, one load, where the FIB
// would cost a second longest-prefix match. The zero value is the empty set. It
// is immutable.
type Local4 struct {
	// slots is open-addressed and at most a quarter full, its length a power of
	// two; 0 marks a free slot (0.0.0.0 is nobody's address).
	slots []uint32
}

// NewLocal4 makes the set of the IPv4 addresses among addrs; others, and
// 0.0.0.0, are left out: the kernel asks no such question of IPv6.
func NewLocal4(addrs ...netip.Addr) Local4 {
	n := 16
	for n < 4*len(addrs) {
		n *= 2
	}
	s := make([]uint32, n)
	for _, a := range addrs {
		if !a.Is4() || a.IsUnspecified() {
			continue
		}
		b := a.As4()
		k := binary.BigEndian.Uint32(b[:])
		i := local4Hash(k)
		for s[i&(n-1)] != 0 && s[i&(n-1)] != k {
			i++
		}
		s[i&(n-1)] = k
	}
	return Local4{s}
}

// local4Hash spreads addresses that differ in any of their bits: the factor is
// 2^32 divided by the golden ratio (Knuth, TAOCP 3, 6.4), the upper half the
// product's best.
func local4Hash(k uint32) int { return int(k * 0x9e3779b1 >> 16) }

// Has says whether the address is in the set; a is its network-order bytes read
// as a big-endian number.
func (l *Local4) Has(a uint32) bool {
	s := l.slots
	if len(s) == 0 || a == 0 {
		return false
	}
	for i := local4Hash(a); ; i++ {
		switch s[i&(len(s)-1)] {
		case a:
			return true
		case 0:
			return false
		}
	}
}

// All are the addresses of the set, in no order.
func (l *Local4) All() []netip.Addr {
	var out []netip.Addr
	for _, k := range l.slots {
		if k != 0 {
			var b [4]byte
			binary.BigEndian.PutUint32(b[:], k)
			out = append(out, netip.AddrFrom4(b))
		}
	}
	return out
}
