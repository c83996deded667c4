package forward

import (
	"weir/netstack/frame"
	"weir/netstack/header"
	"weir/netstack/snapshot"
)

// Process sets Verdict, Reason, Out and NextHop of every frame in b.F[:b.N],
// and rewrites the frames it forwards: MACs, TTL and checksum or hop limit, and
// a length without Ethernet padding, which may be less than the 60 bytes that
// the wire wants (the driver pads with zeros). Punted frames keep their bytes
// and their length. Frames must have come in on ports of the Snapshot; others
// are punted.
//
// The whole batch is decided before any frame is rewritten: the first pass
// misses the cache for frames and tables with nothing in between that would
// make one miss wait for the other, the second finds everything at hand.
func Process(s *snapshot.Snapshot, b *frame.Batch) {
	frames := b.F[:b.N]
	for i := range frames {
		f := &frames[i]
		if r := decide(s, f); r != frame.ReasonNone {
			f.Verdict, f.Reason, f.Out, f.NextHop = frame.VerdictPunt, r, frame.NoPort, 0
		}
	}
	for i := range frames {
		if f := &frames[i]; f.Verdict == frame.VerdictForward {
			rewrite(&s.NextHops[f.NextHop], f)
		}
	}
}

// decide sets the verdict to forward and what belongs to it, or says why the
// frame is the kernel's. The tests come in the order of the steering program
// (drivers/xdp/bpf/weir.c), so that both count a frame under the same reason.
func decide(s *snapshot.Snapshot, f *frame.Frame) frame.Reason {
	if int(f.In) >= len(s.Ports) {
		return frame.ReasonPortSlow
	}
	in, data := &s.Ports[f.In], f.Data
	eth, ok := header.ParseEthernet(data)
	if !ok {
		return frame.ReasonBadHeader
	}
	// Only a frame to the port's own MAC is PACKET_HOST (eth_type_trans,
	// net/ethernet/eth.c), and ip_forward and ip6_forward take no other.
	if eth.Dst() != in.MAC {
		if eth.IsGroup() {
			return frame.ReasonMulticast
		}
		return frame.ReasonOtherHost
	}
	switch eth.Type() {
	case header.TypeIPv4:
		if !in.Fast4 {
			return frame.ReasonPortSlow
		}
		return decide4(s, f, data[header.EthernetLen:])
	case header.TypeIPv6:
		if !in.Fast6 {
			return frame.ReasonPortSlow
		}
		return decide6(s, f, data[header.EthernetLen:])
	case header.TypeVLAN, header.TypeQinQ:
		return frame.ReasonTagged
	}
	return frame.ReasonNotIP
}

// route finishes the decision once the destination's next hop is known: n is
// the packet's length from the IP header on.
func route(s *snapshot.Snapshot, f *frame.Frame, id uint32, n int) frame.Reason {
	if uint(id) >= uint(len(s.NextHops)) {
		return frame.ReasonKernelRoute // cannot be in a Snapshot that passed Check
	}
	hop := &s.NextHops[id]
	if hop.Kind != snapshot.KindForward {
		if hop.Reason == frame.ReasonNone {
			return frame.ReasonKernelRoute
		}
		return hop.Reason
	}
	if hop.Out == f.In {
		return frame.ReasonSamePort
	}
	if uint32(n) > hop.MTU {
		return frame.ReasonTooBig
	}
	f.Verdict, f.Reason, f.Out, f.NextHop = frame.VerdictForward, frame.ReasonNone, hop.Out, id
	// What follows the packet is padding and no part of it (RFC 894).
	f.Data = f.Data[:header.EthernetLen+n]
	return frame.ReasonNone
}

// rewrite makes a frame that decide let through into the one that leaves. Its
// length was verified; each family's headers are one fixed array.
func rewrite(hop *snapshot.NextHop, f *frame.Frame) {
	eth := (*header.Ethernet)(f.Data)
	eth.SetDst(hop.DstMAC)
	eth.SetSrc(hop.SrcMAC)
	if eth.Type() == header.TypeIPv4 {
		rewrite4((*[header.EthernetLen + header.IPv4MinLen]byte)(f.Data))
	} else {
		rewrite6((*[header.EthernetLen + header.IPv6Len]byte)(f.Data))
	}
}
