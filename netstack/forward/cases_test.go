package forward_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"weir/netstack/frame"
	"weir/netstack/snapshot"
)

// ether is a layer-3 packet, in hex, as a frame to a port.
func ether(s *snapshot.Snapshot, in frame.PortID, packet string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(packet, " ", ""))
	if err != nil {
		panic(err)
	}
	mac := s.Ports[in].MAC
	f := append(mac[:], 2, 0, 0, 9, 9, 9, 0x08, 0x00)
	if len(b) > 0 && b[0]>>4 == 6 {
		f[12], f[13] = 0x86, 0xdd
	}
	return append(f, b...)
}

// TestForwarded has packets from reports of the field (the cases of that name)
// and the packets that must leave: without NAT, the same with the TTL one less
// and the checksum of a full recomputation.
func TestForwarded(t *testing.T) {
	s := plan()
	for _, c := range []struct {
		name, in, out string
		port          frame.PortID
	}{
		{"A01 the trailer of a bare ACK stays behind",
			"450000281234000040067cafc0a8010ac6336407138801bb000003e8000007d05010200082ec0000 deadbeefcafe",
			"45000028123400003f067dafc0a8010ac6336407138801bb000003e8000007d05010200082ec0000", wan},
		{"A04 the checksum becomes 0000, not ffff",
			"4500001c66ce00004011feff0a0000020a000102 0000000000080000",
			"4500001c66ce00003f1100000a0000020a000102 0000000000080000", lan},
		{"A04 the carry goes around the end",
			"4500001c664e00004011ff7f0a0000020a000102 0000000000080000",
			"4500001c664e00003f1100800a0000020a000102 0000000000080000", lan},
		{"A09 TTL 2 leaves with 1",
			"4500001c00000000 02110000 c0a8010a c6336407 1388003500080000",
			"4500001c00000000 01110000 c0a8010a c6336407 1388003500080000", wan},
		{"B07 169.254.0.0/16 is a network like any other",
			"4500001c00000000 40110000 a9fe0101 c6336407 1388003500080000",
			"4500001c00000000 3f110000 a9fe0101 c6336407 1388003500080000", wan},
		{"B09 a UDP length below the IP payload is not the router's business",
			"4500002000000000 40110000 c0a8010a c6336407 1388003500080000 00000000",
			"4500002000000000 3f110000 c0a8010a c6336407 1388003500080000 00000000", wan},
		{"a payload of nothing",
			"6000000000003b40 20010db8000100000000000000000010 20010db8000900000000000000000001 000000000000",
			"6000000000003b3f 20010db8000100000000000000000010 20010db8000900000000000000000001", wan},
		{"IPv6 with a trailer",
			"600000000008113f 20010db8000100000000000000000010 20010db8000900000000000000000001 1388003500081234 ffffffff",
			"600000000008113e 20010db8000100000000000000000010 20010db8000900000000000000000001 1388003500081234", wan},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, from := ether(s, lan, c.in), lan
			if c.port == lan {
				from = wan
				in = ether(s, wan, c.in)
			}
			want := ether(s, c.port, c.out)
			if in[12] == 8 && in[24]|in[25] == 0 { // the table leaves the checksum to be computed
				mend(in)
				mend(want)
			}
			f := process(t, s, from, in)
			if f.Verdict != frame.VerdictForward || f.Out != c.port {
				t.Fatalf("verdict %d, reason %v, out %d", f.Verdict, f.Reason, f.Out)
			}
			hop := s.NextHops[f.NextHop]
			copy(want[0:6], hop.DstMAC[:])
			copy(want[6:12], hop.SrcMAC[:])
			if !bytes.Equal(f.Data, want) {
				t.Fatalf("left as\n%x, want\n%x", f.Data, want)
			}
		})
	}
}

// mend computes the checksum of an IPv4 frame.
func mend(f []byte) {
	f[24], f[25] = 0, 0
	hl := min(int(f[14]&15)*4, (len(f)-14)&^1)
	binary.BigEndian.PutUint16(f[24:], ^fullSum(f[14:14+hl]))
}

// udp4 is an IPv4 UDP packet from a to b, with the TTL, flags and fragment
// offset, and a payload of n bytes; udp6 is the like.
func udp4(from, to string, ttl uint8, fragment uint16, n int) []byte {
	src, dst := netip.MustParseAddr(from).As4(), netip.MustParseAddr(to).As4()
	p := make([]byte, 28+n)
	p[0], p[8], p[9] = 0x45, ttl, 17
	binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
	binary.BigEndian.PutUint16(p[6:], fragment)
	copy(p[12:], src[:])
	copy(p[16:], dst[:])
	binary.BigEndian.PutUint16(p[24:], uint16(8+n))
	return p
}

func udp6(from, to string, hops uint8, next uint8, n int) []byte {
	src, dst := netip.MustParseAddr(from).As16(), netip.MustParseAddr(to).As16()
	p := make([]byte, 48+n)
	p[0], p[6], p[7] = 0x60, next, hops
	binary.BigEndian.PutUint16(p[4:], uint16(8+n))
	copy(p[8:], src[:])
	copy(p[24:], dst[:])
	return p
}

// TestPunted has what the kernel must see: each for its reason, and unchanged.
func TestPunted(t *testing.T) {
	const (
		a4, b4 = "192.168.1.10", "198.51.100.7"
		a6, b6 = "2001:db8:1::10", "2001:db8:9::1"
	)
	s := plan()
	packet := func(p []byte) []byte { // as a frame to lan
		f := ether(s, lan, hex.EncodeToString(p))
		if p[0]>>4 == 4 {
			mend(f)
		}
		return f
	}
	raw := func(h string) []byte { return ether(s, lan, h) }
	with := func(f []byte, change func(f []byte)) []byte { change(f); return f }
	good := func() []byte { return packet(udp4(a4, b4, 64, 0, 10)) }
	good6 := func() []byte { return packet(udp6(a6, b6, 64, 17, 10)) }
	type punted struct {
		name string
		why  frame.Reason
		data []byte
	}
	list := []punted{
		{"A07 router alert", frame.ReasonOptions, raw("46000024123400004011e7a3c0a8010ac63364079404000013880035000c3b6561626364")},
		{"A07 IHL 4", frame.ReasonBadHeader, with(good(), func(f []byte) { f[14] = 0x44; mend(f) })},
		{"A07 IHL 15, total length 40", frame.ReasonOptions, with(packet(udp4(a4, b4, 64, 0, 12)), func(f []byte) { f[14] = 0x4f; mend(f) })},
		{"A07 IHL beyond the frame", frame.ReasonOptions, with(good(), func(f []byte) { f[14] = 0x4f; mend(f) })},
		{"A08 first fragment", frame.ReasonFragment, with(packet(udp4(a4, b4, 64, 0x2000, 1472)), func([]byte) {})},
		{"A08 last fragment", frame.ReasonFragment, raw("45000022123400b940117bf1c0a8010ac6336407c0c1c2c3c4c5c6c7000000000000")},
		{"A09 TTL 1", frame.ReasonTTL, packet(udp4(a4, b4, 1, 0, 10))},
		{"A09 TTL 0", frame.ReasonTTL, packet(udp4(a4, b4, 0, 0, 10))},
		{"A09 TTL 1 to a connected host", frame.ReasonTTL, packet(udp4(b4, a4, 1, 0, 10))},
		{"A09 TTL 1 to the router", frame.ReasonTTL, packet(udp4(a4, "192.168.1.1", 1, 0, 10))},
		{"A09 hop limit 1", frame.ReasonTTL, packet(udp6(a6, b6, 1, 17, 10))},
		{"A09 hop limit 0", frame.ReasonTTL, packet(udp6(a6, b6, 0, 17, 10))},
		{"A10 no route", frame.ReasonNoRoute, packet(udp6(a6, "5000::1", 64, 17, 10))},
		{"A24 priority tag", frame.ReasonTagged, with(good(), func(f []byte) { copy(f[12:], "\x81\x00\xc0\x00\x08\x00") })},
		{"A24 VID 4095", frame.ReasonTagged, with(good(), func(f []byte) { copy(f[12:], "\x81\x00\x0f\xff\x08\x00") })},
		{"802.1ad tag", frame.ReasonTagged, with(good(), func(f []byte) { copy(f[12:], "\x88\xa8\x00\x14\x81\x00") })},
		{"B05 above the port's MTU, DF", frame.ReasonTooBig, packet(udp4(a4, "10.1.9.9", 64, 0x4000, 1253))},
		{"B05 above the port's MTU, no DF", frame.ReasonTooBig, packet(udp4(a4, "10.1.9.9", 64, 0, 1253))},
		{"B05 above the route's MTU", frame.ReasonTooBig, packet(udp4(a4, "10.1.2.9", 64, 0x4000, 1373))},
		{"B05 IPv6 above the port's MTU", frame.ReasonTooBig, packet(udp6(a6, "2001:db8:3::9", 64, 17, 1233))},
		{"B07 to the router", frame.ReasonLocal, packet(udp4(a4, "192.168.1.1", 64, 0, 10))},
		{"B07 from the router's own address", frame.ReasonLocal, packet(udp4("203.0.113.5", b4, 64, 0, 10))},
		{"B07 broadcast of the port", frame.ReasonLocal, packet(udp4(a4, "192.168.1.255", 64, 0, 10))},
		{"B07 broadcast of another port", frame.ReasonLocal, packet(udp4(a4, "192.168.2.255", 64, 0, 10))},
		{"B07 broadcast MAC", frame.ReasonMulticast, with(good(), func(f []byte) { copy(f, "\xff\xff\xff\xff\xff\xff") })},
		{"B07 multicast MAC", frame.ReasonMulticast, with(good(), func(f []byte) { copy(f, "\x01\x00\x5e\x00\x00\x05") })},
		{"another station's MAC", frame.ReasonOtherHost, with(good(), func(f []byte) { f[5]++ })},
		{"the other port's MAC", frame.ReasonOtherHost, with(good(), func(f []byte) { copy(f, s.Ports[wan].MAC[:]) })},
		{"B09 total length 0", frame.ReasonBadHeader, with(good(), func(f []byte) { f[17] = 0; mend(f) })},
		{"B09 total length 19", frame.ReasonBadHeader, with(good(), func(f []byte) { f[17] = 19; mend(f) })},
		{"B09 total length 60 of 46", frame.ReasonBadHeader, with(packet(udp4(a4, b4, 64, 0, 18)), func(f []byte) { f[17] = 60; mend(f) })},
		{"B09 payload length 100 of 40", frame.ReasonBadHeader, with(packet(udp6(a6, b6, 64, 17, 32)), func(f []byte) { f[19] = 100 })},
		{"version 6 in an IPv4 frame", frame.ReasonBadHeader, with(good(), func(f []byte) { f[14] = 0x65; mend(f) })},
		{"version 4 in an IPv6 frame", frame.ReasonBadHeader, with(good6(), func(f []byte) { f[14] = 0x40 })},
		{"wrong checksum", frame.ReasonBadHeader, with(good(), func(f []byte) { f[25]++ })},
		{"no frame", frame.ReasonBadHeader, nil},
		{"half a MAC header", frame.ReasonBadHeader, good()[:13]},
		{"no IPv4 header", frame.ReasonBadHeader, good()[:14]},
		{"19 bytes of IPv4", frame.ReasonBadHeader, good()[:14+19]},
		{"39 bytes of IPv6", frame.ReasonBadHeader, good6()[:14+39]},
		{"ARP", frame.ReasonNotIP, with(good(), func(f []byte) { f[13] = 6 })},
		{"802.3 length", frame.ReasonNotIP, with(good(), func(f []byte) { f[12], f[13] = 0, 38 })},
		{"a route only the kernel can carry", frame.ReasonKernelRoute, packet(udp4(a4, "198.18.0.1", 64, 0, 10))},
		{"a neighbour not resolved", frame.ReasonUnresolved, packet(udp4(b4, "192.168.1.77", 64, 0, 10))},
		{"back out of the same port", frame.ReasonSamePort, packet(udp4("10.9.9.9", a4, 64, 0, 10))},
	}
	for _, a := range []string{"0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.5", "239.1.1.1", "255.255.255.255"} {
		list = append(list,
			punted{"A10, B07 from " + a, frame.ReasonScope, packet(udp4(a, b4, 64, 0, 10))},
			punted{"A10, B07 to " + a, frame.ReasonScope, packet(udp4(a4, a, 64, 0, 10))})
	}
	for _, a := range []string{"::", "::1", "::ffff:192.0.2.1", "fe80::1", "febf::1", "ff02::fb", "ff02::1", "ff0e::1"} {
		list = append(list,
			punted{"A10, B07 from " + a, frame.ReasonScope, packet(udp6(a, b6, 64, 17, 10))},
			punted{"A10, B07 to " + a, frame.ReasonScope, packet(udp6(a6, a, 64, 17, 10))})
	}
	for _, next := range []uint8{0, 43, 44, 51, 60, 135, 139, 140} {
		list = append(list, punted{fmt.Sprintf("extension header %d", next), frame.ReasonExtHeader, packet(udp6(a6, b6, 64, next, 10))})
	}
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			f := process(t, s, lan, c.data)
			if f.Verdict != frame.VerdictPunt || f.Reason != c.why {
				t.Errorf("verdict %d, reason %v, want %v", f.Verdict, f.Reason, c.why)
			}
			if f.Out != frame.NoPort || f.NextHop != 0 {
				t.Errorf("out %d, next hop %d left over", f.Out, f.NextHop)
			}
			if !bytes.Equal(f.Data, c.data) {
				t.Errorf("changed to\n%x from\n%x", f.Data, c.data)
			}
		})
	}
}

// TestMTU walks sizes around a limit: the limit itself fits.
func TestMTU(t *testing.T) {
	s := plan()
	for n := 1390; n <= 1410; n++ {
		p := udp4("192.168.1.10", "10.1.2.9", 64, 0, n-28)
		in := ether(s, lan, hex.EncodeToString(p))
		mend(in)
		in = append(in, make([]byte, 20)...) // padding is not part of the packet
		if f := process(t, s, lan, in); (f.Verdict == frame.VerdictForward) != (n <= 1400) || f.Verdict == frame.VerdictPunt && f.Reason != frame.ReasonTooBig {
			t.Errorf("%d bytes on a route with MTU 1400: verdict %d, reason %v", n, f.Verdict, f.Reason)
		}
	}
}

// TestSlowPort: a family on the kernel path does not touch the other.
func TestSlowPort(t *testing.T) {
	s := plan()
	in := ether(s, slow, hex.EncodeToString(udp4("192.168.1.10", "198.51.100.7", 64, 0, 10)))
	mend(in)
	if f := process(t, s, slow, in); f.Verdict != frame.VerdictPunt || f.Reason != frame.ReasonPortSlow {
		t.Errorf("IPv4: verdict %d, reason %v", f.Verdict, f.Reason)
	}
	in = ether(s, slow, hex.EncodeToString(udp6("2001:db8:1::10", "2001:db8:9::1", 64, 17, 10)))
	if f := process(t, s, slow, in); f.Verdict != frame.VerdictForward {
		t.Errorf("IPv6: verdict %d, reason %v", f.Verdict, f.Reason)
	}
}
