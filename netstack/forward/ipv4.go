package forward

import (
	"encoding/binary"

	"weir/netstack/checksum"
	"weir/netstack/frame"
	"weir/netstack/header"
	"weir/netstack/snapshot"
)

// decide4 decides the packet b in f. It is the kernel's way of an IPv4
// packet up to its next hop: ip_rcv_core (net/ipv4/ip_input.c), ip_route_input_slow
// (net/ipv4/route.c) with fib_validate_source (net/ipv4/fib_frontend.c), ip_forward
// (net/ipv4/ip_forward.c).
func decide4(s *snapshot.Snapshot, f *frame.Frame, b []byte) frame.Reason {
	ip, ok := header.ParseIPv4(b)
	if !ok {
		return odd4(b)
	}
	if ip.HeaderLen() != header.IPv4MinLen {
		return frame.ReasonOptions // they are the kernel's to judge, with the checksum
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
	id, ok := s.FIB.Lookup4(dst)
	if !ok {
		return frame.ReasonNoRoute
	}
	return route(s, f, id, ip.TotalLen())
}

// odd4 names what ParseIPv4 refused: a header with options counts as such, even
// if its length lies too.
func odd4(b []byte) frame.Reason {
	if len(b) >= header.IPv4MinLen && b[0]>>4 == 4 && b[0]&15 > 5 {
		return frame.ReasonOptions
	}
	return frame.ReasonBadHeader
}

// unroutable4 says of a source or destination, as a big-endian number, that the
// kernel would not forward it or that it is too odd to say: "this network"
// (0.0.0.0/8; Linux since 5.3 forwards all of it but 0.0.0.0), loopback,
// multicast, limited broadcast. As in Linux, 169.254.0.0/16 and 240.0.0.0/4 but
// for 255.255.255.255 are networks like any other.
func unroutable4(a uint32) bool {
	return a>>24 == 0 || a>>24 == 127 || a>>28 == 0xe || a == 0xffffffff
}

// rewrite4 takes one from the TTL of the frame that begins with p. Its word also
// holds the protocol; the update is RFC 1624's and gives what a full sum would
// give.
func rewrite4(p *[header.EthernetLen + header.IPv4MinLen]byte) {
	ip := (*header.IPv4)(p[header.EthernetLen:])
	old := binary.BigEndian.Uint16(ip[8:10])
	ip.SetChecksum(checksum.Update(ip.Checksum(), old, old-1<<8))
	ip.SetTTL(ip.TTL() - 1)
}
