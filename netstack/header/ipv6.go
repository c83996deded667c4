package header

import "encoding/binary"

// IPv6Len is the length of the fixed IPv6 header.
const IPv6Len = 40

// IPv6 is the fixed IPv6 header (RFC 8200, 3): version, traffic class and flow
// label 0-3, payload length 4-5, next header 6, hop limit 7, source 8-23,
// destination 24-39.
type IPv6 [IPv6Len]byte

// ParseIPv6 views the packet at the front of b, which may be longer (Ethernet
// padding). It is true if the version is 6 and header and payload fit b.
// Extension headers are not looked at; a jumbogram (RFC 2675) has a payload
// length of 0 here.
func ParseIPv6(b []byte) (*IPv6, bool) {
	if len(b) < IPv6Len {
		return nil, false
	}
	h := (*IPv6)(b)
	if h[0]>>4 != 6 || h.TotalLen() > len(b) {
		return nil, false
	}
	return h, true
}

// Version is 6.
func (h *IPv6) Version() uint8 { return h[0] >> 4 }

// TrafficClass is the DSCP (6 bits) and ECN (2 bits) byte.
func (h *IPv6) TrafficClass() uint8 { return h[0]<<4 | h[1]>>4 }

// FlowLabel is the flow label, 20 bits.
func (h *IPv6) FlowLabel() uint32 { return binary.BigEndian.Uint32(h[0:4]) & 0xfffff }

// PayloadLen is the length of everything after the fixed header in bytes.
func (h *IPv6) PayloadLen() int { return int(binary.BigEndian.Uint16(h[4:6])) }

// TotalLen is the length of fixed header and payload in bytes.
func (h *IPv6) TotalLen() int { return IPv6Len + h.PayloadLen() }

// NextHeader is the number of the first extension header or of the payload.
func (h *IPv6) NextHeader() uint8 { return h[6] }

// HopLimit is the hop limit.
func (h *IPv6) HopLimit() uint8 { return h[7] }

// Src is the source address.
func (h *IPv6) Src() [16]byte { return [16]byte(h[8:24]) }

// Dst is the destination address.
func (h *IPv6) Dst() [16]byte { return [16]byte(h[24:40]) }

// SetPayloadLen sets the payload length.
func (h *IPv6) SetPayloadLen(n uint16) { binary.BigEndian.PutUint16(h[4:6], n) }

// SetHopLimit sets the hop limit.
func (h *IPv6) SetHopLimit(n uint8) { h[7] = n }

// SetSrc sets the source address; transport checksums are the caller's to mend.
func (h *IPv6) SetSrc(a [16]byte) { *(*[16]byte)(h[8:24]) = a }

// SetDst sets the destination address; transport checksums are the caller's to
// mend.
func (h *IPv6) SetDst(a [16]byte) { *(*[16]byte)(h[24:40]) = a }

// Payload is what follows the fixed header in b, the slice that ParseIPv6
// accepted, without padding.
func (h *IPv6) Payload(b []byte) []byte { return b[IPv6Len:h.TotalLen()] }
