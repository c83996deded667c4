package header

import "encoding/binary"

// ARPLen is the length of an ARP packet for IPv4 over Ethernet.
const ARPLen = 28

// ARP operations (RFC 826).
const (
	ARPRequest = 1
	ARPReply   = 2
)

// ARP is an ARP packet for IPv4 over Ethernet (RFC 826, "Packet format"):
// hardware type 0-1, protocol type 2-3, hardware length 4, protocol length 5,
// operation 6-7, sender MAC 8-13, sender address 14-17, target MAC 18-23,
// target address 24-27.
type ARP [ARPLen]byte

// ParseARP views the packet at the front of b; false if it is cut short or is
// not about IPv4 addresses on Ethernet.
func ParseARP(b []byte) (*ARP, bool) {
	if len(b) < ARPLen {
		return nil, false
	}
	h := (*ARP)(b)
	// Hardware type 1 (Ethernet), protocol IPv4, lengths 6 and 4.
	if binary.BigEndian.Uint32(h[0:4]) != 1<<16|TypeIPv4 || h[4] != 6 || h[5] != 4 {
		return nil, false
	}
	return h, true
}

// Op is the operation.
func (h *ARP) Op() uint16 { return binary.BigEndian.Uint16(h[6:8]) }

// SenderMAC is the sender's hardware address.
func (h *ARP) SenderMAC() [6]byte { return [6]byte(h[8:14]) }

// SenderIP is the sender's protocol address.
func (h *ARP) SenderIP() [4]byte { return [4]byte(h[14:18]) }

// TargetMAC is the target's hardware address: without meaning in a request.
func (h *ARP) TargetMAC() [6]byte { return [6]byte(h[18:24]) }

// TargetIP is the target's protocol address.
func (h *ARP) TargetIP() [4]byte { return [4]byte(h[24:28]) }
