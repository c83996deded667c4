package header

import "encoding/binary"

// UDPLen is the length of a UDP header.
const UDPLen = 8

// UDP is a UDP header (RFC 768): source port 0-1, destination port 2-3,
// length 4-5, checksum 6-7.
type UDP [UDPLen]byte

// ParseUDP views the datagram at the front of b, an IP payload. It is true if
// 8 <= length <= len(b); bytes after the length belong to nobody. A length of 0
// (jumbogram, RFC 2675) is refused.
func ParseUDP(b []byte) (*UDP, bool) {
	if len(b) < UDPLen {
		return nil, false
	}
	h := (*UDP)(b)
	if h.Length() < UDPLen || h.Length() > len(b) {
		return nil, false
	}
	return h, true
}

// SrcPort is the source port.
func (h *UDP) SrcPort() uint16 { return binary.BigEndian.Uint16(h[0:2]) }

// DstPort is the destination port.
func (h *UDP) DstPort() uint16 { return binary.BigEndian.Uint16(h[2:4]) }

// Length is the length of header and data in bytes.
func (h *UDP) Length() int { return int(binary.BigEndian.Uint16(h[4:6])) }

// Checksum is the checksum; 0 says that the sender made none (IPv4 only).
func (h *UDP) Checksum() uint16 { return binary.BigEndian.Uint16(h[6:8]) }

// SetSrcPort sets the source port.
func (h *UDP) SetSrcPort(p uint16) { binary.BigEndian.PutUint16(h[0:2], p) }

// SetDstPort sets the destination port.
func (h *UDP) SetDstPort(p uint16) { binary.BigEndian.PutUint16(h[2:4], p) }

// SetLength sets the length of header and data.
func (h *UDP) SetLength(n uint16) { binary.BigEndian.PutUint16(h[4:6], n) }

// SetChecksum sets the checksum. A computed 0 is sent as 0xffff (RFC 768).
func (h *UDP) SetChecksum(c uint16) { binary.BigEndian.PutUint16(h[6:8], c) }

// Payload is the data in b, the slice that ParseUDP accepted.
func (h *UDP) Payload(b []byte) []byte { return b[UDPLen:h.Length()] }
