package header

import "encoding/binary"

// TCPMinLen is the length of a TCP header without options.
const TCPMinLen = 20

// TCP flags (RFC 9293, 3.1), byte 13.
const (
	TCPFin = 1 << iota
	TCPSyn
	TCPRst
	TCPPsh
	TCPAck
	TCPUrg
	TCPEce
	TCPCwr
)

// TCP is the fixed part of a TCP header (RFC 9293, 3.1): source port 0-1,
// destination port 2-3, sequence number 4-7, acknowledgment number 8-11, data
// offset 12, flags 13, window 14-15, checksum 16-17, urgent pointer 18-19.
type TCP [TCPMinLen]byte

// ParseTCP views the segment at the front of b, an IP payload. It is true if
// 20 <= data offset <= len(b).
func ParseTCP(b []byte) (*TCP, bool) {
	if len(b) < TCPMinLen {
		return nil, false
	}
	h := (*TCP)(b)
	if h.HeaderLen() < TCPMinLen || h.HeaderLen() > len(b) {
		return nil, false
	}
	return h, true
}

// SrcPort is the source port.
func (h *TCP) SrcPort() uint16 { return binary.BigEndian.Uint16(h[0:2]) }

// DstPort is the destination port.
func (h *TCP) DstPort() uint16 { return binary.BigEndian.Uint16(h[2:4]) }

// Seq is the sequence number.
func (h *TCP) Seq() uint32 { return binary.BigEndian.Uint32(h[4:8]) }

// Ack is the acknowledgment number.
func (h *TCP) Ack() uint32 { return binary.BigEndian.Uint32(h[8:12]) }

// HeaderLen is the length of the header with its options in bytes.
func (h *TCP) HeaderLen() int { return int(h[12]>>4) << 2 }

// Flags are CWR to FIN; the accurate ECN bit of byte 12 is not among them.
func (h *TCP) Flags() uint8 { return h[13] }

// Window is the window as sent, unscaled.
func (h *TCP) Window() uint16 { return binary.BigEndian.Uint16(h[14:16]) }

// Checksum is the checksum.
func (h *TCP) Checksum() uint16 { return binary.BigEndian.Uint16(h[16:18]) }

// SetSrcPort sets the source port.
func (h *TCP) SetSrcPort(p uint16) { binary.BigEndian.PutUint16(h[0:2], p) }

// SetDstPort sets the destination port.
func (h *TCP) SetDstPort(p uint16) { binary.BigEndian.PutUint16(h[2:4], p) }

// SetChecksum sets the checksum.
func (h *TCP) SetChecksum(c uint16) { binary.BigEndian.PutUint16(h[16:18], c) }

// Options are the options in b, the slice that ParseTCP accepted.
func (h *TCP) Options(b []byte) []byte { return b[TCPMinLen:h.HeaderLen()] }

// Payload is the data in b, the slice that ParseTCP accepted.
func (h *TCP) Payload(b []byte) []byte { return b[h.HeaderLen():] }
