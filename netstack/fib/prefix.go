package fib

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// prefix is an address prefix of either family: its first bits from the top of
// hi on, then of lo, zeros behind. An IPv4 address is the top half of hi.
type prefix struct {
	hi, lo uint64
	bits   uint8
}

func prefixOf(p netip.Prefix) prefix {
	p = p.Masked()
	out := prefix{bits: uint8(p.Bits())}
	if p.Addr().Is4() {
		a := p.Addr().As4()
		out.hi = uint64(binary.BigEndian.Uint32(a[:])) << 32
	} else {
		a := p.Addr().As16()
		out.hi, out.lo = binary.BigEndian.Uint64(a[0:8]), binary.BigEndian.Uint64(a[8:16])
	}
	return out
}

func (p prefix) netip4() netip.Prefix {
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], uint32(p.hi>>32))
	return netip.PrefixFrom(netip.AddrFrom4(a), int(p.bits))
}

func (p prefix) netip6() netip.Prefix {
	var a [16]byte
	binary.BigEndian.PutUint64(a[0:8], p.hi)
	binary.BigEndian.PutUint64(a[8:16], p.lo)
	return netip.PrefixFrom(netip.AddrFrom16(a), int(p.bits))
}

// octet is byte i of the prefix, from the front.
func (p prefix) octet(i int) uint8 {
	if i < 8 {
		return uint8(p.hi >> (56 - 8*i))
	}
	return uint8(p.lo >> (120 - 8*i))
}

// with is the first depth octets of p and then the in-node prefix i.
func (p prefix) with(depth int, i index) prefix {
	shift := 128 - 8*depth // bits that the octets in front leave
	out := prefix{bits: uint8(8*depth + i.bits())}
	// Go's shifts by 64 and more give 0.
	if shift >= 64 {
		out.hi = p.hi >> (shift - 64) << (shift - 64)
	} else {
		out.hi, out.lo = p.hi, p.lo>>shift<<shift
	}
	if depth < 8 {
		out.hi |= uint64(i.first()) << (56 - 8*depth)
	} else {
		out.lo |= uint64(i.first()) << (120 - 8*depth)
	}
	return out
}

// holds says whether an address is behind the prefix.
func (p *prefix) holds(hi, lo uint64) bool {
	if p.bits <= 64 {
		return (hi^p.hi)>>(64-p.bits) == 0
	}
	return hi == p.hi && (lo^p.lo)>>(128-p.bits) == 0
}

// index numbers the prefixes within one octet: a 1 bit, then the prefix's 0 to 8
// bits. So the empty prefix is 1, the two halves are 2 and 3, the single values
// 256 to 511; shorter prefixes have smaller numbers.
type index uint16

// indexOf is the index of an octet's first n bits.
func indexOf(octet uint8, n int) index { return index(1<<n | int(octet)>>(8-n)) }

// bits is the length of the prefix, 0 to 8.
func (i index) bits() int { return bits.Len16(uint16(i)) - 1 }

// first is the lowest octet behind the prefix.
func (i index) first() uint8 { return uint8(i << (8 - i.bits())) }
