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
// and their length.
//
// The whole batch is decided before any frame is rewritten: the first pass
// misses the cache for frames and tables with nothing in between that would
// make one miss wait for the other, the second finds everything at hand.
func Process(s *snapshot.Snapshot, b *frame.Batch) {
	frames := b.F[:b.N]
	for i := range frames {
		decide(s, &frames[i])
	}
	for i := range frames {
		if frames[i].Verdict == frame.VerdictForward {
			rewrite(s, &frames[i])
		}
	}
}

// punt leaves f to the kernel.
func punt(f *frame.Frame, r frame.Reason) {
	f.Verdict, f.Reason, f.Out, f.NextHop = frame.VerdictPunt, r, frame.NoPort, 0
}

// decide sets the verdict on one frame. The tests come in the order in which
// the kernel would make them, as far as that can be told apart from outside.
func decide(s *snapshot.Snapshot, f *frame.Frame) {
	eth, ok := header.ParseEthernet(f.Data)
	if !ok {
		punt(f, frame.ReasonBadHeader)
		return
	}
	if int(f.In) >= len(s.Ports) {
		punt(f, frame.ReasonPortSlow)
		return
	}
	in := &s.Ports[f.In]
	var r frame.Reason
	switch eth.Type() {
	case header.TypeIPv4:
		if r = station(eth, in, in.Fast4); r == frame.ReasonNone {
			r = decide4(s, f)
		}
	case header.TypeIPv6:
		if r = station(eth, in, in.Fast6); r == frame.ReasonNone {
			r = decide6(s, f)
		}
	case header.TypeVLAN, header.TypeQinQ:
		r = frame.ReasonTagged
	default:
		r = frame.ReasonNotIP
	}
	if r != frame.ReasonNone {
		punt(f, r)
	}
}

// station says why a frame is not one that this port routes: eth_type_trans
// (net/ethernet/eth.c) calls only a frame to the port's own MAC PACKET_HOST, and
// ip_forward and ip6_forward take no other.
func station(eth *header.Ethernet, in *snapshot.Port, fast bool) frame.Reason {
	if eth.Dst() != in.MAC {
		if eth.IsGroup() {
			return frame.ReasonMulticast
		}
		return frame.ReasonOtherHost
	}
	if !fast {
		return frame.ReasonPortSlow
	}
	return frame.ReasonNone
}

// route finishes the decision once the destination's next hop is known: n is
// the packet's length from the IP header on.
func route(s *snapshot.Snapshot, f *frame.Frame, id uint32, found bool, n int) frame.Reason {
	if !found {
		return frame.ReasonNoRoute
	}
	if uint(id) >= uint(len(s.NextHops)) {
		return frame.ReasonKernelRoute
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
	// The rest is padding, which is no part of the packet (RFC 894).
	f.Data = f.Data[:header.EthernetLen+n]
	return frame.ReasonNone
}

// rewrite makes a frame that is to be forwarded into the one that leaves.
func rewrite(s *snapshot.Snapshot, f *frame.Frame) {
	hop := &s.NextHops[f.NextHop]
	eth, _ := header.ParseEthernet(f.Data)
	eth.SetDst(hop.DstMAC)
	eth.SetSrc(hop.SrcMAC)
	if eth.Type() == header.TypeIPv4 {
		rewrite4(f)
	} else {
		rewrite6(f)
	}
}
