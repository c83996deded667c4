package forward

import (
	"encoding/binary"

	"weir/netstack/checksum"
	"weir/netstack/frame"
	"weir/netstack/header"
	"weir/netstack/snapshot"
)

// decide4 is the kernel's way of an IPv4 packet up to its route: ip_rcv_core
// (net/ipv4/ip_input.c), ip_route_input_slow and fib_validate_source
// (net/ipv4/route.c, fib_frontend.c), ip_forward (net/ipv4/ip_forward.c).
func decide4(s *snapshot.Snapshot, f *frame.Frame) frame.Reason {
	ip, ok := header.ParseIPv4(f.Data[header.EthernetLen:])
	if !ok {
		return frame.ReasonBadHeader
	}
	if ip.HeaderLen() != header.IPv4MinLen {
		return frame.ReasonOptions // checksum and options are the kernel's to judge
	}
	if !checksum.IPv4HeaderOK((*[20]byte)(ip)) {
		return frame.ReasonBadHeader
	}
	if ip.IsFragment() {
		return frame.ReasonFragment
	}
	if ip.TTL() <= 1 {
		return frame.ReasonTTL
	}
	src, dst := ip.Src(), ip.Dst()
	sn, dn := binary.BigEndian.Uint32(src[:]), binary.BigEndian.Uint32(dst[:])
	if unroutable4(sn) || unroutable4(dn) {
		return frame.ReasonScope
	}
	if s.Local4.Has(sn) {
		return frame.ReasonLocal
	}
	id, found := s.FIB.Lookup4(dst)
	return route(s, f, id, found, ip.TotalLen())
}

// unroutable4 says of a source or destination that it is not forwarded: the
// unspecified address, loopback, multicast, limited broadcast. As in Linux
// (include/linux/in.h), 0.0.0.0/8 but for 0.0.0.0, 169.254.0.0/16 and
// 240.0.0.0/4 but for 255.255.255.255 are networks like any other.
func unroutable4(a uint32) bool {
	return a == 0 || a>>24 == 127 || a>>28 == 0xe || a == 0xffffffff
}

// rewrite4 takes one from the TTL. Its word also holds the protocol; the
// update is RFC 1624's, which gives what a full sum would give.
func rewrite4(f *frame.Frame) {
	ip := (*header.IPv4)(f.Data[header.EthernetLen:])
	old := binary.BigEndian.Uint16(ip[8:10])
	ip.SetChecksum(checksum.Update(ip.Checksum(), old, old-1<<8))
	ip.SetTTL(ip.TTL() - 1)
}
