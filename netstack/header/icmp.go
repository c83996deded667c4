package header

import "encoding/binary"

// ICMPLen is the length of an ICMP or ICMPv6 header with the word that every
// type gives its own meaning.
const ICMPLen = 8

// ICMP types (RFC 792) and ICMPv6 types (RFC 4443).
const (
	ICMPEchoReply       = 0
	ICMPUnreachable     = 3
	ICMPEchoRequest     = 8
	ICMPTimeExceeded    = 11
	ICMPv6Unreachable   = 1
	ICMPv6TooBig        = 2
	ICMPv6TimeExceeded  = 3
	ICMPv6EchoRequest   = 128
	ICMPv6EchoReply     = 129
	ICMPv6NeighborSol   = 135
	ICMPv6NeighborAdv   = 136
	ICMPCodeFragNeeded  = 4 // of ICMPUnreachable (RFC 1191, 4)
	ICMPCodeTTLExceeded = 0 // of ICMPTimeExceeded
)

// ICMP is the header of an ICMP or ICMPv6 message: type 0, code 1, checksum
// 2-3, a word by type 4-7.
type ICMP [ICMPLen]byte

// ParseICMP views the message at the front of b, an IP payload; false if b is
// shorter.
func ParseICMP(b []byte) (*ICMP, bool) {
	if len(b) < ICMPLen {
		return nil, false
	}
	return (*ICMP)(b), true
}

// Type is the message's type.
func (h *ICMP) Type() uint8 { return h[0] }

// Code is the type's code.
func (h *ICMP) Code() uint8 { return h[1] }

// Checksum is the checksum: over the message, in ICMPv6 with a pseudo header.
func (h *ICMP) Checksum() uint16 { return binary.BigEndian.Uint16(h[2:4]) }

// ID is the identifier of an echo message.
func (h *ICMP) ID() uint16 { return binary.BigEndian.Uint16(h[4:6]) }

// Seq is the sequence number of an echo message.
func (h *ICMP) Seq() uint16 { return binary.BigEndian.Uint16(h[6:8]) }

// MTU4 is the next-hop MTU of an ICMP "fragmentation needed" (RFC 1191, 4).
func (h *ICMP) MTU4() uint16 { return binary.BigEndian.Uint16(h[6:8]) }

// MTU6 is the MTU of an ICMPv6 "packet too big" (RFC 4443, 3.2).
func (h *ICMP) MTU6() uint32 { return binary.BigEndian.Uint32(h[4:8]) }

// SetChecksum sets the checksum.
func (h *ICMP) SetChecksum(c uint16) { binary.BigEndian.PutUint16(h[2:4], c) }

// SetID sets the identifier of an echo message.
func (h *ICMP) SetID(id uint16) { binary.BigEndian.PutUint16(h[4:6], id) }
