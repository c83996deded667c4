package forward

import (
	"encoding/binary"

	"weir/netstack/frame"
	"weir/netstack/header"
	"weir/netstack/snapshot"
)

// decide6 decides the packet b in f. It is the kernel's way of an IPv6 packet up
// to its next hop: ip6_rcv_core (net/ipv6/ip6_input.c) and ip6_forward
// (net/ipv6/ip6_output.c). A payload
// length of 0 without a hop-by-hop header is a packet with nothing inside, and
// is forwarded. Unlike with IPv4 the kernel does not mind a packet from one of
// the router's own addresses.
func decide6(s *snapshot.Snapshot, f *frame.Frame, b []byte) frame.Reason {
	ip, ok := header.ParseIPv6(b)
	if !ok {
		return frame.ReasonBadHeader
	}
	if isExtension(ip.NextHeader()) {
		return frame.ReasonExtHeader
	}
	if ip.HopLimit() <= 1 {
		return frame.ReasonTTL
	}
	// The upper halves of source and destination.
	if unroutable6(binary.BigEndian.Uint64(ip[8:16])) || unroutable6(binary.BigEndian.Uint64(ip[24:32])) {
		return frame.ReasonScope
	}
	id, ok := s.FIB.Lookup6(ip.Dst())
	if !ok {
		return frame.ReasonNoRoute
	}
	return route(s, f, id, ip.TotalLen())
}

// extensions has a bit for each extension header (RFC 8200, 4; IANA's list):
// what they hold may concern routers, hide a fragment, or change the route. ESP
// is not among them: to a router it is a payload.
var extensions = [4]uint64{
	0: 1<<header.ProtoHopByHop | 1<<header.ProtoRouting | 1<<header.ProtoFragment |
		1<<header.ProtoAH | 1<<header.ProtoDestOpts,
	2: 1<<(header.ProtoMobility-128) | 1<<(header.ProtoHIP-128) | 1<<(header.ProtoShim6-128),
}

func isExtension(next uint8) bool { return extensions[next>>6]>>(next&63)&1 != 0 }

// unroutable6 says of a source or destination, by its upper half as a big-endian
// number, that the kernel would not forward it or that it is too odd to say:
// ::/64 (unspecified, loopback, IPv4-mapped; RFC 4291, 2.5.2, 2.5.3, 2.5.5),
// link-local (2.5.6), multicast (2.7).
func unroutable6(hi uint64) bool {
	return hi == 0 || hi>>56 == 0xff || hi>>54 == 0xfe80>>6
}

// rewrite6 takes one from the hop limit of the frame that begins with p; IPv6 has
// no header checksum.
func rewrite6(p *[header.EthernetLen + header.IPv6Len]byte) {
	ip := (*header.IPv6)(p[header.EthernetLen:])
	ip.SetHopLimit(ip.HopLimit() - 1)
}
