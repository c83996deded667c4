package checksum

import "encoding/binary"

// Update is the checksum after a 16-bit word that it covers changed from old to
// new: RFC 1624, equation 3, HC' = ~(~HC + ~m + m'). All in host order. Unlike
// RFC 1141's form it gives the number that a full sum would give, save that
// nothing tells apart the two zeros if the covered bytes are all zero, which no
// IP header is.
func Update(hc, old, new uint16) uint16 {
	v := uint32(^hc) + uint32(^old) + uint32(new)
	v = v>>16 + v&0xffff
	v = v>>16 + v&0xffff
	return ^uint16(v)
}

// Update32 is Update for a 32-bit field at an even offset, such as an IPv4
// address in network order.
func Update32(hc uint16, old, new [4]byte) uint16 {
	v := uint32(^hc)
	v += uint32(^binary.BigEndian.Uint16(old[0:2])) + uint32(binary.BigEndian.Uint16(new[0:2]))
	v += uint32(^binary.BigEndian.Uint16(old[2:4])) + uint32(binary.BigEndian.Uint16(new[2:4]))
	v = v>>16 + v&0xffff
	v = v>>16 + v&0xffff
	return ^uint16(v)
}

// UpdateBytes is Update for a field of any even length at an even offset, such
// as an IPv6 address. It panics if the lengths differ or are odd: that is a
// fault of the program, never of a packet.
func UpdateBytes(hc uint16, old, new []byte) uint16 {
	if len(old) != len(new) || len(old)%2 != 0 {
		panic("checksum: a field keeps its even length")
	}
	// The difference of two sums: ~m is the one's complement of m's sum.
	o := Sum(0).Add(old).Fold()
	n := Sum(0).Add(new).Fold()
	return Update(hc, o, n)
}
