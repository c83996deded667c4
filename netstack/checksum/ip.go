package checksum

import "encoding/binary"

// IPv4HeaderOK says that the checksum of a 20-byte IPv4 header is right: that
// the sum over all of it, the checksum included, is 0xffff (RFC 791, 3.1). It is
// the unrolled special case of Sum.Add that every packet pays.
func IPv4HeaderOK(h *[20]byte) bool {
	v := uint64(binary.LittleEndian.Uint32(h[0:4])) +
		uint64(binary.LittleEndian.Uint32(h[4:8])) +
		uint64(binary.LittleEndian.Uint32(h[8:12])) +
		uint64(binary.LittleEndian.Uint32(h[12:16])) +
		uint64(binary.LittleEndian.Uint32(h[16:20])) // 35 bits
	w := uint32(v>>16) + uint32(v)&0xffff // at most 0x5ffff
	// At most 0x10004 after one more fold, and of the numbers up to there only
	// 0xffff is a zero: no need to fold on. It reads the same in both byte orders.
	return w>>16+w&0xffff == 0xffff
}

// PseudoIPv4 is the sum of the pseudo header in front of TCP and UDP over IPv4
// (RFC 9293, 3.1; RFC 768): addresses, protocol, length of header and data.
func PseudoIPv4(src, dst [4]byte, proto uint8, length uint16) Sum {
	return Sum(uint64(binary.LittleEndian.Uint32(src[:])) + uint64(binary.LittleEndian.Uint32(dst[:]))).
		Add16(uint16(proto)).Add16(length)
}

// PseudoIPv6 is the sum of the pseudo header in front of TCP, UDP and ICMPv6
// over IPv6 (RFC 8200, 8.1): addresses, upper-layer length, next header.
func PseudoIPv6(src, dst [16]byte, next uint8, length uint32) Sum {
	return Sum(0).Add(src[:]).Add(dst[:]).
		Add16(uint16(length >> 16)).Add16(uint16(length)).Add16(uint16(next))
}
