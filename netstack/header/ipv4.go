package header

import "encoding/binary"

// IPv4MinLen is the length of an IPv4 header without options.
const IPv4MinLen = 20

// Bits of the flags and fragment offset word (RFC 791, 3.1).
const (
	IPv4DontFragment   = 0x4000
	IPv4MoreFragments  = 0x2000
	IPv4FragmentOffset = 0x1fff // in units of 8 bytes
)

// IPv4 is the fixed part of an IPv4 header (RFC 791, 3.1): version and IHL 0,
// TOS 1, total length 2-3, identification 4-5, flags and fragment offset 6-7,
// TTL 8, protocol 9, checksum 10-11, source 12-15, destination 16-19.
type IPv4 [IPv4MinLen]byte

// ParseIPv4 views the packet at the front of b, which may be longer (Ethernet
// padding). It is true if the version is 4, the header is there in full and
// header length <= total length <= len(b); the checksum is not looked at.
func ParseIPv4(b []byte) (*IPv4, bool) {
	if len(b) < IPv4MinLen {
		return nil, false
	}
	h := (*IPv4)(b)
	if h[0]>>4 != 4 || h[0]&15 < 5 || h.TotalLen() < h.HeaderLen() || h.TotalLen() > len(b) {
		return nil, false
	}
	return h, true
}

// Version is 4.
func (h *IPv4) Version() uint8 { return h[0] >> 4 }

// HeaderLen is the length of the header with its options in bytes.
func (h *IPv4) HeaderLen() int { return int(h[0]&15) << 2 }

// TOS is the DSCP (6 bits) and ECN (2 bits) byte (RFC 2474, RFC 3168).
func (h *IPv4) TOS() uint8 { return h[1] }

// TotalLen is the length of header and payload in bytes.
func (h *IPv4) TotalLen() int { return int(binary.BigEndian.Uint16(h[2:4])) }

// ID is the identification that the fragments of a datagram share.
func (h *IPv4) ID() uint16 { return binary.BigEndian.Uint16(h[4:6]) }

// FlagsOffset is the flags and fragment offset word.
func (h *IPv4) FlagsOffset() uint16 { return binary.BigEndian.Uint16(h[6:8]) }

// DontFragment says that routers may not fragment the packet.
func (h *IPv4) DontFragment() bool { return h.FlagsOffset()&IPv4DontFragment != 0 }

// IsFragment says that the packet is a fragment, the first one included.
func (h *IPv4) IsFragment() bool {
	return h.FlagsOffset()&(IPv4MoreFragments|IPv4FragmentOffset) != 0
}

// TTL is the time to live.
func (h *IPv4) TTL() uint8 { return h[8] }

// Protocol is the protocol number of the payload.
func (h *IPv4) Protocol() uint8 { return h[9] }

// Checksum is the header checksum.
func (h *IPv4) Checksum() uint16 { return binary.BigEndian.Uint16(h[10:12]) }

// Src is the source address.
func (h *IPv4) Src() [4]byte { return [4]byte(h[12:16]) }

// Dst is the destination address.
func (h *IPv4) Dst() [4]byte { return [4]byte(h[16:20]) }

// SetTotalLen sets the total length; the checksum is the caller's to mend.
func (h *IPv4) SetTotalLen(n uint16) { binary.BigEndian.PutUint16(h[2:4], n) }

// SetTTL sets the time to live; the checksum is the caller's to mend.
func (h *IPv4) SetTTL(t uint8) { h[8] = t }

// SetChecksum sets the header checksum.
func (h *IPv4) SetChecksum(c uint16) { binary.BigEndian.PutUint16(h[10:12], c) }

// SetSrc sets the source address; the checksums are the caller's to mend.
func (h *IPv4) SetSrc(a [4]byte) { *(*[4]byte)(h[12:16]) = a }

// SetDst sets the destination address; the checksums are the caller's to mend.
func (h *IPv4) SetDst(a [4]byte) { *(*[4]byte)(h[16:20]) = a }

// Payload is the packet's payload in b, the slice that ParseIPv4 accepted,
// without options and without padding.
func (h *IPv4) Payload(b []byte) []byte { return b[h.HeaderLen():h.TotalLen()] }
