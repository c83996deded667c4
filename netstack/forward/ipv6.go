package forward

import (
	"encoding/binary"

	"weir/netstack/frame"
	"weir/netstack/header"
	"weir/netstack/snapshot"
)

// decide6 is the kernel's way of an IPv6 packet up to its route: ip6_rcv_core
// (net/ipv6/ip6_input.c) and ip6_forward (net/ipv6/ip6_output.c). The kernel
// does not ask whether a source is one of our own addresses.
func decide6(s *snapshot.Snapshot, f *frame.Frame) frame.Reason {
	ip, ok := header.ParseIPv6(f.Data[header.EthernetLen:])
	if !ok {
		return frame.ReasonBadHeader
	}
	if extension(ip.NextHeader()) {
		return frame.ReasonExtHeader
	}
	if ip.PayloadLen() == 0 {
		return frame.ReasonBadHeader // nothing inside, or a jumbogram gone wrong
	}
	if ip.HopLimit() <= 1 {
		return frame.ReasonTTL
	}
	if unroutable6((*[16]byte)(ip[8:24])) || mapped4((*[16]byte)(ip[8:24])) || unroutable6((*[16]byte)(ip[24:40])) {
		return frame.ReasonScope
	}
	id, found := s.FIB.Lookup6(ip.Dst())
	return route(s, f, id, found, ip.TotalLen())
}

// extensions has a bit for each extension header (RFC 8200, 4; IANA's list):
// what they hold may concern routers, hide a fragment, or reroute.
var extensions = [4]uint64{
	0: 1<<header.ProtoHopByHop | 1<<header.ProtoRouting | 1<<header.ProtoFragment | 1<<header.ProtoAH | 1<<header.ProtoDestOpts,
	2: 1<<(header.ProtoMobility-128) | 1<<(header.ProtoHIP-128) | 1<<(header.ProtoShim6-128),
}

func extension(next uint8) bool { return extensions[next>>6]>>(next&63)&1 != 0 }

// unroutable6 says of a source or destination that it is not forwarded: the
// unspecified address (RFC 4291, 2.5.2), loopback (2.5.3), link-local (2.5.6),
// multicast (2.7).
func unroutable6(a *[16]byte) bool {
	hi, lo := binary.BigEndian.Uint64(a[0:8]), binary.BigEndian.Uint64(a[8:16])
	return hi>>56 == 0xff || hi>>54 == 0xfe80>>6 || hi == 0 && lo <= 1
}

// mapped4 says that a is an IPv4-mapped address (RFC 4291, 2.5.5.2), which
// ip6_rcv_core refuses as a source.
func mapped4(a *[16]byte) bool {
	return binary.BigEndian.Uint64(a[0:8]) == 0 && binary.BigEndian.Uint32(a[8:12]) == 0xffff
}

// rewrite6 takes one from the hop limit; IPv6 has no header checksum.
func rewrite6(f *frame.Frame) {
	ip := (*header.IPv6)(f.Data[header.EthernetLen:])
	ip.SetHopLimit(ip.HopLimit() - 1)
}
