package header

import (
	"encoding/hex"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// is compares one field.
func is[T comparable](t *testing.T, name string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", name, got, want)
	}
}

func TestEthernet(t *testing.T) {
	b := unhex(t, "0123456789ab02030405060708dd")
	h, ok := ParseEthernet(b)
	if !ok {
		t.Fatal("refused")
	}
	is(t, "Dst", h.Dst(), [6]byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xab})
	is(t, "Src", h.Src(), [6]byte{2, 3, 4, 5, 6, 7})
	is(t, "Type", h.Type(), 0x08dd)
	is(t, "IsGroup", h.IsGroup(), true)
	h.SetDst([6]byte{2, 2, 2, 2, 2, 2})
	h.SetSrc([6]byte{4, 4, 4, 4, 4, 5})
	h.SetType(TypeIPv6)
	is(t, "IsGroup", h.IsGroup(), false)
	is(t, "bytes", hex.EncodeToString(b), "02020202020204040404040586dd")
}

func TestVLAN(t *testing.T) {
	b := unhex(t, "d0140800")
	h, ok := ParseVLAN(b)
	if !ok {
		t.Fatal("refused")
	}
	is(t, "PCP", h.PCP(), 6)
	is(t, "DEI", h.DEI(), true)
	is(t, "VID", h.VID(), 20)
	is(t, "TCI", h.TCI(), 0xd014)
	is(t, "Type", h.Type(), TypeIPv4)
	h.SetTCI(0x2fff)
	h.SetType(TypeARP)
	is(t, "VID", h.VID(), VIDReserved)
	is(t, "DEI", h.DEI(), false)
	is(t, "bytes", hex.EncodeToString(b), "2fff0806")
}

func TestARP(t *testing.T) {
	b := unhex(t, "0001080006040001"+"020000000001"+"c0a80101"+"020000000002"+"c0a80102"+"0000")
	h, ok := ParseARP(b)
	if !ok {
		t.Fatal("refused")
	}
	is(t, "Op", h.Op(), ARPRequest)
	is(t, "SenderMAC", h.SenderMAC(), [6]byte{2, 0, 0, 0, 0, 1})
	is(t, "SenderIP", h.SenderIP(), [4]byte{192, 168, 1, 1})
	is(t, "TargetMAC", h.TargetMAC(), [6]byte{2, 0, 0, 0, 0, 2})
	is(t, "TargetIP", h.TargetIP(), [4]byte{192, 168, 1, 2})
	for i := range 6 {
		b[i]++
		if _, ok := ParseARP(b); ok {
			t.Errorf("accepted with byte %d wrong", i)
		}
		b[i]--
	}
}

func TestIPv4(t *testing.T) {
	b := unhex(t, "46b80022123460b92a11abcd"+"c0a8010a"+"c6336407"+"94040000"+"c0c1c2c3c4c5c6c7c8c9"+"deadbeef")
	h, ok := ParseIPv4(b)
	if !ok {
		t.Fatal("refused")
	}
	is(t, "Version", h.Version(), 4)
	is(t, "HeaderLen", h.HeaderLen(), 24)
	is(t, "TOS", h.TOS(), 0xb8)
	is(t, "TotalLen", h.TotalLen(), 34)
	is(t, "ID", h.ID(), 0x1234)
	is(t, "FlagsOffset", h.FlagsOffset(), 0x60b9)
	is(t, "DontFragment", h.DontFragment(), true)
	is(t, "IsFragment", h.IsFragment(), true)
	is(t, "TTL", h.TTL(), 42)
	is(t, "Protocol", h.Protocol(), ProtoUDP)
	is(t, "Checksum", h.Checksum(), 0xabcd)
	is(t, "Src", h.Src(), [4]byte{192, 168, 1, 10})
	is(t, "Dst", h.Dst(), [4]byte{198, 51, 100, 7})
	is(t, "Payload", hex.EncodeToString(h.Payload(b)), "c0c1c2c3c4c5c6c7c8c9")
	h.SetTotalLen(33)
	h.SetTTL(41)
	h.SetChecksum(0x0102)
	h.SetSrc([4]byte{1, 2, 3, 4})
	h.SetDst([4]byte{5, 6, 7, 8})
	is(t, "bytes", hex.EncodeToString(b[:20]), "46b80021123460b92911010201020304"+"05060708")

	for flags, want := range map[uint16]bool{0: false, IPv4DontFragment: false, 0x8000: false, IPv4MoreFragments: true, 1: true, 0x1fff: true} {
		b[6], b[7] = byte(flags>>8), byte(flags)
		is(t, "IsFragment", h.IsFragment(), want)
	}
}

func TestIPv4Refused(t *testing.T) {
	good := func() []byte { b := make([]byte, 46); b[0], b[3] = 0x45, 40; return b }
	if _, ok := ParseIPv4(good()); !ok {
		t.Fatal("a packet with padding was refused")
	}
	for name, change := range map[string]func(b []byte) []byte{
		"version 5":            func(b []byte) []byte { b[0] = 0x55; return b },
		"IHL 4":                func(b []byte) []byte { b[0] = 0x44; return b },
		"IHL 15 of 40":         func(b []byte) []byte { b[0] = 0x4f; return b },
		"total length 0":       func(b []byte) []byte { b[3] = 0; return b },
		"total length 19":      func(b []byte) []byte { b[3] = 19; return b },
		"longer than there is": func(b []byte) []byte { b[3] = 47; return b },
		"65535 of 46":          func(b []byte) []byte { b[2], b[3] = 255, 255; return b },
		"cut to 39":            func(b []byte) []byte { return b[:39] },
		"cut to 19":            func(b []byte) []byte { return b[:19] },
		"nothing":              func(b []byte) []byte { return nil },
	} {
		if _, ok := ParseIPv4(change(good())); ok {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestIPv6(t *testing.T) {
	b := unhex(t, "6b8abcde0004113f"+"20010db8000100000000000000000010"+"20010db8000900000000000000000001"+"01020304"+"ffff")
	h, ok := ParseIPv6(b)
	if !ok {
		t.Fatal("refused")
	}
	is(t, "Version", h.Version(), 6)
	is(t, "TrafficClass", h.TrafficClass(), 0xb8)
	is(t, "FlowLabel", h.FlowLabel(), 0xabcde)
	is(t, "PayloadLen", h.PayloadLen(), 4)
	is(t, "TotalLen", h.TotalLen(), 44)
	is(t, "NextHeader", h.NextHeader(), ProtoUDP)
	is(t, "HopLimit", h.HopLimit(), 63)
	is(t, "Src", h.Src(), [16]byte{0x20, 1, 0x0d, 0xb8, 0, 1, 15: 0x10})
	is(t, "Dst", h.Dst(), [16]byte{0x20, 1, 0x0d, 0xb8, 0, 9, 15: 1})
	is(t, "Payload", hex.EncodeToString(h.Payload(b)), "01020304")
	h.SetHopLimit(1)
	h.SetPayloadLen(3)
	h.SetSrc([16]byte{15: 1})
	h.SetDst([16]byte{0: 0xff, 15: 2})
	is(t, "bytes", hex.EncodeToString(b[4:40]), "00031101"+"00000000000000000000000000000001"+"ff000000000000000000000000000002")
	b[5] = 7
	if _, ok := ParseIPv6(b); ok {
		t.Error("accepted a payload longer than there is")
	}
	b[5], b[0] = 4, 0x40
	if _, ok := ParseIPv6(b); ok {
		t.Error("accepted version 4")
	}
	if _, ok := ParseIPv6(b[:39]); ok {
		t.Error("accepted 39 bytes")
	}
}

func TestUDP(t *testing.T) {
	b := unhex(t, "13880035000c1234"+"61626364"+"ffff")
	h, ok := ParseUDP(b)
	if !ok {
		t.Fatal("refused")
	}
	is(t, "SrcPort", h.SrcPort(), 5000)
	is(t, "DstPort", h.DstPort(), 53)
	is(t, "Length", h.Length(), 12)
	is(t, "Checksum", h.Checksum(), 0x1234)
	is(t, "Payload", string(h.Payload(b)), "abcd")
	h.SetSrcPort(1)
	h.SetDstPort(2)
	h.SetLength(9)
	h.SetChecksum(0xffff)
	is(t, "bytes", hex.EncodeToString(b[:8]), "000100020009ffff")
	for _, n := range []byte{0, 7, 15} {
		b[5] = n
		if _, ok := ParseUDP(b); ok {
			t.Errorf("accepted length %d of 14", n)
		}
	}
	if _, ok := ParseUDP(b[:7]); ok {
		t.Error("accepted 7 bytes")
	}
}

func TestTCP(t *testing.T) {
	b := unhex(t, "138801bb000003e8000007d06012200082ec0000"+"020405b4"+"aabb")
	h, ok := ParseTCP(b)
	if !ok {
		t.Fatal("refused")
	}
	is(t, "SrcPort", h.SrcPort(), 5000)
	is(t, "DstPort", h.DstPort(), 443)
	is(t, "Seq", h.Seq(), 1000)
	is(t, "Ack", h.Ack(), 2000)
	is(t, "HeaderLen", h.HeaderLen(), 24)
	is(t, "Flags", h.Flags(), TCPSyn|TCPAck)
	is(t, "Window", h.Window(), 0x2000)
	is(t, "Checksum", h.Checksum(), 0x82ec)
	is(t, "Options", hex.EncodeToString(h.Options(b)), "020405b4")
	is(t, "Payload", hex.EncodeToString(h.Payload(b)), "aabb")
	h.SetSrcPort(1)
	h.SetDstPort(2)
	h.SetChecksum(3)
	is(t, "bytes", hex.EncodeToString(b[:20]), "00010002000003e8000007d06012200000030000")
	for _, offset := range []byte{0, 4, 7, 15} {
		b[12] = offset << 4
		if _, ok := ParseTCP(b); ok {
			t.Errorf("accepted data offset %d of 26 bytes", offset)
		}
	}
}

func TestICMP(t *testing.T) {
	b := unhex(t, "0304abcd00070578")
	h, ok := ParseICMP(b)
	if !ok {
		t.Fatal("refused")
	}
	is(t, "Type", h.Type(), ICMPUnreachable)
	is(t, "Code", h.Code(), ICMPCodeFragNeeded)
	is(t, "Checksum", h.Checksum(), 0xabcd)
	is(t, "ID", h.ID(), 7)
	is(t, "Seq", h.Seq(), 0x0578)
	is(t, "MTU4", h.MTU4(), 1400)
	is(t, "MTU6", h.MTU6(), 0x70578)
	h.SetChecksum(1)
	h.SetID(0x9c40)
	is(t, "bytes", hex.EncodeToString(b), "030400019c400578")
}

func TestVXLAN(t *testing.T) {
	b := unhex(t, "ff11223312345677")
	h, ok := ParseVXLAN(b)
	if !ok {
		t.Fatal("refused")
	}
	is(t, "VNI", h.VNI(), 0x123456)
	h.Set(0xabcdef)
	is(t, "bytes", hex.EncodeToString(b), "08000000abcdef00")
	b[0] = 0xf7
	if _, ok := ParseVXLAN(b); ok {
		t.Error("accepted without a valid VNI")
	}
}

// TestShort: nothing shorter than its header is viewed, whatever it holds.
func TestShort(t *testing.T) {
	fits := map[string]struct {
		n     int
		parse func(b []byte) bool
	}{
		"Ethernet": {EthernetLen, func(b []byte) bool { _, ok := ParseEthernet(b); return ok }},
		"VLAN":     {VLANLen, func(b []byte) bool { _, ok := ParseVLAN(b); return ok }},
		"ICMP":     {ICMPLen, func(b []byte) bool { _, ok := ParseICMP(b); return ok }},
		"VXLAN":    {VXLANLen, func(b []byte) bool { _, ok := ParseVXLAN(b); return ok }},
		"ARP":      {ARPLen, func(b []byte) bool { _, ok := ParseARP(b); return ok }},
		"IPv4":     {IPv4MinLen, func(b []byte) bool { _, ok := ParseIPv4(b); return ok }},
		"IPv6":     {IPv6Len, func(b []byte) bool { _, ok := ParseIPv6(b); return ok }},
		"UDP":      {UDPLen, func(b []byte) bool { _, ok := ParseUDP(b); return ok }},
		"TCP":      {TCPMinLen, func(b []byte) bool { _, ok := ParseTCP(b); return ok }},
	}
	for name, c := range fits {
		for fill := range 256 {
			b := make([]byte, c.n-1)
			for i := range b {
				b[i] = byte(fill)
			}
			for n := range b {
				if c.parse(b[:n]) || c.parse(b) {
					t.Fatalf("%s: viewed %d bytes of %#02x", name, n, fill)
				}
			}
		}
	}
}

// FuzzParse: a view that was given out can be read to its last field and its
// payload cut out, inside of what was there, without a panic.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "45",
		"46b80022123460b92a11abcdc0a8010ac633640794040000c0c1c2c3c4c5c6c7c8c9deadbeef",
		"6b8abcde0004113f20010db800010000000000000000001020010db800090000000000000000000101020304ffff",
		"13880035000c12346162636400", "138801bb000003e8000007d06012200082ec0000020405b4aabb",
		"0001080006040001020000000001c0a80101020000000002c0a801020000", "0800000012345600",
	} {
		f.Add(unhex(f, s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		within := func(name string, from, n int, p []byte) {
			if n < 0 || from+len(p) > len(b) || len(p) != n {
				t.Fatalf("%s: payload of %d bytes, want %d, from %d of %d", name, len(p), n, from, len(b))
			}
		}
		if h, ok := ParseIPv4(b); ok {
			within("IPv4", h.HeaderLen(), h.TotalLen()-h.HeaderLen(), h.Payload(b))
		}
		if h, ok := ParseIPv6(b); ok {
			within("IPv6", IPv6Len, h.PayloadLen(), h.Payload(b))
		}
		if h, ok := ParseUDP(b); ok {
			within("UDP", UDPLen, h.Length()-UDPLen, h.Payload(b))
		}
		if h, ok := ParseTCP(b); ok {
			within("TCP", h.HeaderLen(), len(b)-h.HeaderLen(), h.Payload(b))
			within("TCP options", TCPMinLen, h.HeaderLen()-TCPMinLen, h.Options(b))
		}
		if h, ok := ParseARP(b); ok {
			_ = h.TargetIP()
		}
		if h, ok := ParseVXLAN(b); ok && h.VNI() > 0xffffff {
			t.Fatalf("VNI %#x", h.VNI())
		}
	})
}
