package forward_test

import (
	"encoding/binary"
	"net/netip"

	"weir/netstack/frame"
	"weir/netstack/snapshot"
)

// twin is Process for one frame again, slow and obvious: written from RFC 791,
// 1812, 8200 and 4291 and the contract in doc.go, with no package of this
// module but the vocabulary. It walks the table from end to end and computes
// checksums in full.
func twin(s *snapshot.Snapshot, in frame.PortID, data []byte) (out []byte, f frame.Frame) {
	f = frame.Frame{In: in, Out: frame.NoPort}
	punt := func(r frame.Reason) ([]byte, frame.Frame) {
		f.Reason = r
		return data, f
	}
	if int(in) >= len(s.Ports) {
		return punt(frame.ReasonPortSlow)
	}
	if len(data) < 14 {
		return punt(frame.ReasonBadHeader)
	}
	port := s.Ports[in]
	if string(data[0:6]) != string(port.MAC[:]) {
		if data[0]%2 == 1 {
			return punt(frame.ReasonMulticast)
		}
		return punt(frame.ReasonOtherHost)
	}
	ip := data[14:]
	var length, ttlAt int
	var src, dst netip.Addr
	switch binary.BigEndian.Uint16(data[12:]) {
	default:
		return punt(frame.ReasonNotIP)
	case 0x8100, 0x88a8:
		return punt(frame.ReasonTagged)
	case 0x0800:
		if !port.Fast4 {
			return punt(frame.ReasonPortSlow)
		}
		if len(ip) < 20 || ip[0]/16 != 4 || ip[0]%16 < 5 {
			return punt(frame.ReasonBadHeader)
		}
		if ip[0]%16 > 5 {
			return punt(frame.ReasonOptions)
		}
		length = int(binary.BigEndian.Uint16(ip[2:]))
		if length < 20 || length > len(ip) {
			return punt(frame.ReasonBadHeader)
		}
		if fullSum(ip[:20]) != 0xffff {
			return punt(frame.ReasonBadHeader)
		}
		if mf, offset := ip[6]&0x20 != 0, binary.BigEndian.Uint16(ip[6:])%0x2000; mf || offset > 0 {
			return punt(frame.ReasonFragment)
		}
		ttlAt = 8
		src, _ = netip.AddrFromSlice(ip[12:16])
		dst, _ = netip.AddrFromSlice(ip[16:20])
	case 0x86dd:
		if !port.Fast6 {
			return punt(frame.ReasonPortSlow)
		}
		if len(ip) < 40 || ip[0]/16 != 6 {
			return punt(frame.ReasonBadHeader)
		}
		length = 40 + int(binary.BigEndian.Uint16(ip[4:]))
		if length > len(ip) {
			return punt(frame.ReasonBadHeader)
		}
		switch ip[6] {
		case 0, 43, 44, 51, 60, 135, 139, 140:
			return punt(frame.ReasonExtHeader)
		}
		ttlAt = 7
		src, _ = netip.AddrFromSlice(ip[8:24])
		dst, _ = netip.AddrFromSlice(ip[24:40])
	}
	if ip[ttlAt] == 0 || ip[ttlAt] == 1 {
		return punt(frame.ReasonTTL)
	}
	if notRouted(src) || notRouted(dst) {
		return punt(frame.ReasonScope)
	}
	if src.Is4() {
		for _, own := range s.Local4.All() {
			if own == src {
				return punt(frame.ReasonLocal)
			}
		}
	}
	best, id := -1, uint32(0)
	for p, v := range s.FIB.All() {
		if p.Contains(dst) && p.Bits() > best {
			best, id = p.Bits(), v
		}
	}
	if best < 0 {
		return punt(frame.ReasonNoRoute)
	}
	hop := s.NextHops[id]
	switch {
	case hop.Kind == snapshot.KindKernel:
		return punt(hop.Reason)
	case hop.Out == in:
		return punt(frame.ReasonSamePort)
	case length > int(hop.MTU):
		return punt(frame.ReasonTooBig)
	}
	out = append(out, hop.DstMAC[:]...)
	out = append(out, hop.SrcMAC[:]...)
	out = append(out, data[12:14+length]...)
	out[14+ttlAt]--
	if src.Is4() {
		out[24], out[25] = 0, 0
		binary.BigEndian.PutUint16(out[24:], ^fullSum(out[14:34]))
	}
	f.Verdict, f.Out, f.NextHop = frame.VerdictForward, hop.Out, id
	return out, f
}

// fullSum is RFC 1071's sum, folded at every step.
func fullSum(b []byte) uint16 {
	sum := uint32(0)
	for i := 0; i < len(b); i += 2 {
		sum += uint32(b[i])*256 + uint32(b[i+1])
		if sum > 0xffff {
			sum -= 0xffff
		}
	}
	return uint16(sum)
}

func notRouted(a netip.Addr) bool {
	if a.IsMulticast() || a.IsLoopback() || a.IsUnspecified() {
		return true
	}
	if a.Is4() {
		return netip.MustParsePrefix("0.0.0.0/8").Contains(a) || a == netip.MustParseAddr("255.255.255.255")
	}
	return netip.MustParsePrefix("fe80::/10").Contains(a) || netip.MustParsePrefix("::/64").Contains(a) || a.Is4In6()
}
