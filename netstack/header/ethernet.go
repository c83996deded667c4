package header

import "encoding/binary"

// EthernetLen is the length of an untagged Ethernet header: destination,
// source, EtherType.
const EthernetLen = 14

// EtherTypes (IEEE 802 numbers). A value below 0x0600 is an IEEE 802.3 length,
// not a type.
const (
	TypeIPv4 = 0x0800
	TypeARP  = 0x0806
	TypeVLAN = 0x8100 // IEEE 802.1Q customer tag
	TypeIPv6 = 0x86dd
	TypeQinQ = 0x88a8 // IEEE 802.1ad service tag
)

// Ethernet is the header of an Ethernet II frame (IEEE 802.3, 3.2):
// destination 0-5, source 6-11, EtherType 12-13.
type Ethernet [EthernetLen]byte

// ParseEthernet views the first 14 bytes of a frame; false if it is shorter.
func ParseEthernet(b []byte) (*Ethernet, bool) {
	if len(b) < EthernetLen {
		return nil, false
	}
	return (*Ethernet)(b), true
}

// Dst is the destination MAC.
func (h *Ethernet) Dst() [6]byte { return [6]byte(h[0:6]) }

// Src is the source MAC.
func (h *Ethernet) Src() [6]byte { return [6]byte(h[6:12]) }

// Type is the EtherType: the tag's, in a tagged frame.
func (h *Ethernet) Type() uint16 { return binary.BigEndian.Uint16(h[12:14]) }

// IsGroup says that the frame goes to a multicast or broadcast MAC (IEEE 802,
// 8.2.2: the first bit on the wire).
func (h *Ethernet) IsGroup() bool { return h[0]&1 != 0 }

// SetDst sets the destination MAC.
func (h *Ethernet) SetDst(a [6]byte) { *(*[6]byte)(h[0:6]) = a }

// SetSrc sets the source MAC.
func (h *Ethernet) SetSrc(a [6]byte) { *(*[6]byte)(h[6:12]) = a }

// SetType sets the EtherType.
func (h *Ethernet) SetType(t uint16) { binary.BigEndian.PutUint16(h[12:14], t) }
