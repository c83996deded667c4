package header

import "encoding/binary"

// VLANLen is the length of a tag: its control information and the EtherType of
// what follows. The tag's own EtherType (TPID) is the one in front of it.
const VLANLen = 4

// VID values with a meaning of their own (IEEE 802.1Q, table 9-2).
const (
	VIDPriority = 0      // no VLAN: the tag carries a priority only
	VIDReserved = 0x0fff // never on the wire
)

// VLAN is the tag after a TPID of TypeVLAN or TypeQinQ (IEEE 802.1Q, 9.6):
// PCP (3 bits), DEI (1), VID (12), EtherType of what follows (16).
type VLAN [VLANLen]byte

// ParseVLAN views the tag at the front of b; false if b is shorter.
func ParseVLAN(b []byte) (*VLAN, bool) {
	if len(b) < VLANLen {
		return nil, false
	}
	return (*VLAN)(b), true
}

// TCI is the tag control information: PCP, DEI and VID together.
func (h *VLAN) TCI() uint16 { return binary.BigEndian.Uint16(h[0:2]) }

// PCP is the priority code point, 0 to 7.
func (h *VLAN) PCP() uint8 { return h[0] >> 5 }

// DEI says that the frame may be dropped first.
func (h *VLAN) DEI() bool { return h[0]&0x10 != 0 }

// VID is the VLAN identifier, 0 to 4095.
func (h *VLAN) VID() uint16 { return h.TCI() & 0x0fff }

// Type is the EtherType of what follows the tag.
func (h *VLAN) Type() uint16 { return binary.BigEndian.Uint16(h[2:4]) }

// SetTCI sets PCP, DEI and VID.
func (h *VLAN) SetTCI(t uint16) { binary.BigEndian.PutUint16(h[0:2], t) }

// SetType sets the EtherType of what follows the tag.
func (h *VLAN) SetType(t uint16) { binary.BigEndian.PutUint16(h[2:4], t) }
