package header

import "encoding/binary"

// VXLANLen is the length of a VXLAN header, VXLANPort its UDP port.
const (
	VXLANLen  = 8
	VXLANPort = 4789
)

// VXLAN is a VXLAN header (RFC 7348, 5): flags 0, reserved 1-3, VNI 4-6,
// reserved 7.
type VXLAN [VXLANLen]byte

// ParseVXLAN views the header at the front of b, a UDP payload. It is true if
// it is there and its VNI is valid (the I flag). Reserved bits are ignored, as
// a receiver must.
func ParseVXLAN(b []byte) (*VXLAN, bool) {
	if len(b) < VXLANLen {
		return nil, false
	}
	h := (*VXLAN)(b)
	if h[0]&0x08 == 0 {
		return nil, false
	}
	return h, true
}

// VNI is the network identifier, 24 bits.
func (h *VXLAN) VNI() uint32 { return binary.BigEndian.Uint32(h[4:8]) >> 8 }

// Set makes h the header of a network: I flag and VNI, the rest zero.
func (h *VXLAN) Set(vni uint32) {
	binary.BigEndian.PutUint32(h[0:4], 0x08000000)
	binary.BigEndian.PutUint32(h[4:8], vni<<8)
}
