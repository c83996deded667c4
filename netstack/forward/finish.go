package forward

import (
	"encoding/binary"

	"weir/netstack/checksum"
	"weir/netstack/frame"
	"weir/netstack/header"
)

// FinishChecksums completes the TCP and UDP checksums that a virtual link hands
// over half done. A veth or tap passes on packets whose sender left the checksum
// to a device that is not there: the field holds the sum of the pseudo header
// alone (CHECKSUM_PARTIAL, include/linux/skbuff.h), and in a raw frame nothing
// else tells so. Hence: where the field is that sum, and the checksum is not
// right as it stands, it is completed. Nothing else is touched, wrong checksums
// neither. Call it on what such a link received, before Process. SCTP, whose
// CRC32c leaves no such trace, is not completed.
func FinishChecksums(b *frame.Batch) {
	for i := range b.F[:b.N] {
		finish(b.F[i].Data)
	}
}

func finish(data []byte) {
	eth, ok := header.ParseEthernet(data)
	if !ok {
		return
	}
	var proto uint8
	var l4 []byte
	var pseudo checksum.Sum
	switch eth.Type() {
	case header.TypeIPv4:
		ip, ok := header.ParseIPv4(data[header.EthernetLen:])
		if !ok || ip.IsFragment() {
			return
		}
		proto, l4 = ip.Protocol(), ip.Payload(data[header.EthernetLen:])
		pseudo = checksum.PseudoIPv4(ip.Src(), ip.Dst(), proto, uint16(len(l4)))
	case header.TypeIPv6:
		ip, ok := header.ParseIPv6(data[header.EthernetLen:])
		if !ok {
			return
		}
		proto, l4 = ip.NextHeader(), ip.Payload(data[header.EthernetLen:])
		pseudo = checksum.PseudoIPv6(ip.Src(), ip.Dst(), proto, uint32(len(l4)))
	default:
		return
	}
	const tcp, udp = 6, 17
	var field []byte
	switch {
	case proto == tcp && len(l4) >= 20:
		field = l4[16:18]
	case proto == udp && len(l4) >= 8:
		field = l4[6:8]
	default:
		return
	}
	if binary.BigEndian.Uint16(field) != pseudo.Fold() {
		return
	}
	// The field takes part in the sum: with the pseudo header's sum in it this is
	// the checksum of the whole.
	sum := checksum.Sum(0).Add(l4)
	if pseudo.AddSum(sum).Fold() == 0xffff {
		return // complete, by a rare chance
	}
	c := sum.Checksum()
	if c == 0 && proto == udp {
		c = 0xffff // RFC 768: 0 would mean "none"
	}
	binary.BigEndian.PutUint16(field, c)
}
