package checksum

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"weir/internal/testenv"
)

// slowSum is RFC 1071 as its text reads: 16-bit big-endian words, a zero byte
// behind an odd end, every carry added in at once.
func slowSum(b []byte) uint16 {
	sum := uint32(0)
	for i := 0; i < len(b); i += 2 {
		w := uint32(b[i]) << 8
		if i+1 < len(b) {
			w |= uint32(b[i+1])
		}
		if sum += w; sum > 0xffff {
			sum -= 0xffff
		}
	}
	return uint16(sum)
}

// random fills b: noise, or what makes carries and the two zeros.
func random(r *rand.Rand, b []byte) {
	kind := r.IntN(4)
	for i := range b {
		switch kind {
		case 0:
			b[i] = 0
		case 1:
			b[i] = 0xff
		case 2:
			b[i] = byte(0xff * r.IntN(2))
		default:
			b[i] = byte(r.Uint32())
		}
	}
}

// TestSumAgainstTwin compares both machine variants with the twin over every
// length up to 2 KiB and every alignment.
func TestSumAgainstTwin(t *testing.T) {
	r := testenv.Rand(t)
	mem := make([]byte, 2048+16)
	for n := 0; n <= 2048; n++ {
		random(r, mem)
		at := n % 16
		if n < 300 {
			for at = 0; at < 15; at++ {
				same(t, mem[at:at+n])
			}
		}
		same(t, mem[at:at+n])
	}
	big := make([]byte, 1<<20+3) // carries pile up
	for i := range big {
		big[i] = 0xff
	}
	same(t, big)
}

func same(t *testing.T, b []byte) {
	t.Helper()
	want := slowSum(b)
	for name, add := range map[string]func(Sum, []byte) Sum{"wide": addWide, "narrow": addNarrow, "Add": Sum.Add} {
		if got := add(0, b).Fold(); got != want {
			t.Fatalf("%s: sum of %d bytes is %#04x, want %#04x\n%x", name, len(b), got, want, b[:min(len(b), 64)])
		}
	}
	if got := Of(b); got != ^want {
		t.Fatalf("checksum of %d bytes is %#04x, want %#04x", len(b), got, ^want)
	}
}

// TestSumOfPieces: pieces of even length add up in any order, from any start.
func TestSumOfPieces(t *testing.T) {
	r := testenv.Rand(t)
	for range 3000 {
		b := make([]byte, r.IntN(400))
		random(r, b)
		i := r.IntN(len(b)+1) &^ 1
		for _, add := range []func(Sum, []byte) Sum{addWide, addNarrow} {
			if got := add(add(0, b[:i]), b[i:]).Fold(); got != slowSum(b) {
				t.Fatalf("%d and %d bytes: %#04x, want %#04x", i, len(b)-i, got, slowSum(b))
			}
			if got := add(0, b[i:]).AddSum(add(0, b[:i])).Fold(); got != slowSum(b) {
				t.Fatalf("%d and %d bytes, as sums: %#04x, want %#04x", i, len(b)-i, got, slowSum(b))
			}
			// A start whose carry has nowhere to go but around.
			if got, want := add(^Sum(0), b).Fold(), slowSum(b); got != want && !(want == 0 && got == 0xffff) {
				t.Fatalf("from all ones: %#04x, want %#04x", got, want)
			}
		}
		w := uint16(r.Uint32())
		if got, want := Sum(0).Add(b[:i]).Add16(w).Fold(), slowSum(binary.BigEndian.AppendUint16(b[:i:i], w)); got != want {
			t.Fatalf("with a word: %#04x, want %#04x", got, want)
		}
	}
}

// TestFold folds numbers whose carries come late: 16-bit pieces near all ones.
func TestFold(t *testing.T) {
	edge := []uint64{0, 1, 2, 0x7fff, 0x8000, 0xfffc, 0xfffd, 0xfffe, 0xffff}
	for _, a := range edge {
		for _, b := range edge {
			for _, c := range edge {
				for _, d := range edge {
					v := a<<48 | b<<32 | c<<16 | d
					want := uint16(v % 0xffff)
					if want == 0 && v != 0 {
						want = 0xffff
					}
					if got := Sum(v).Fold(); got != want<<8|want>>8 {
						t.Fatalf("%#016x folds to %#04x, want %#04x", v, got, want<<8|want>>8)
					}
				}
			}
		}
	}
}

// TestRFC1071 is the example of RFC 1071, section 3.
func TestRFC1071(t *testing.T) {
	b := []byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}
	if got := Sum(0).Add(b).Fold(); got != 0xddf2 {
		t.Fatalf("sum is %#04x, want 0xddf2", got)
	}
}

// TestUpdateCases are the values where the forms of RFC 1141 and hand-written
// carries go wrong (RFC 1624, section 4, and two headers whose TTL goes from 64
// to 63).
func TestUpdateCases(t *testing.T) {
	for _, c := range []struct {
		name             string
		hc, old, new, to uint16
	}{
		{"RFC 1624", 0xdd2f, 0x5555, 0x3285, 0x0000},
		{"TTL, no carry", 0xfeff, 0x4011, 0x3f11, 0x0000},
		{"TTL, end-around carry", 0xff7f, 0x4011, 0x3f11, 0x0080},
	} {
		if got := Update(c.hc, c.old, c.new); got != c.to {
			t.Errorf("%s: %#04x, want %#04x", c.name, got, c.to)
		}
	}
	for _, h := range []string{"4500001c66ce00003f1100000a0000020a000102", "4500001c664e00003f1100800a0000020a000102"} {
		b, _ := hex.DecodeString(h)
		if !IPv4HeaderOK((*[20]byte)(b)) || Of(b) != 0 {
			t.Errorf("%s is not right", h)
		}
	}
}

// TestUpdateTTLExhaustive: for every checksum that a header can have, the TTL's
// update equals the full sum.
func TestUpdateTTLExhaustive(t *testing.T) {
	var h [20]byte
	copy(h[:], []byte{0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 2, 10, 0, 1, 2})
	for id := range 1 << 16 {
		for _, ttl := range []byte{1, 2, 64, 255} {
			binary.BigEndian.PutUint16(h[4:], uint16(id))
			h[8], h[10], h[11] = ttl, 0, 0
			before := Of(h[:])
			h[8]--
			want := Of(h[:])
			old := uint16(ttl)<<8 | 17
			if got := Update(before, old, old-0x100); got != want {
				t.Fatalf("identification %#04x, TTL %d: %#04x to %#04x, want %#04x", id, ttl, before, got, want)
			}
		}
	}
}

// TestUpdateProperty: any change of any field, incremental equals full.
func TestUpdateProperty(t *testing.T) {
	r := testenv.Rand(t)
	for range 20000 {
		b := make([]byte, 20+2*r.IntN(30))
		random(r, b)
		b[0] |= 0x40 // not all zero, as no IP header is
		before := ^slowSum(b)
		n := []int{2, 4, 8, 16}[r.IntN(4)]
		at := 2 + 2*r.IntN((len(b)-n)/2)
		old := append([]byte(nil), b[at:at+n]...)
		random(r, b[at:at+n])
		new := b[at : at+n]
		want := ^slowSum(b)
		if got := UpdateBytes(before, old, new); got != want {
			t.Fatalf("%x to %x: %#04x to %#04x, want %#04x", old, new, before, got, want)
		}
		switch n {
		case 2:
			if got := Update(before, binary.BigEndian.Uint16(old), binary.BigEndian.Uint16(new)); got != want {
				t.Fatalf("Update %x to %x: %#04x to %#04x, want %#04x", old, new, before, got, want)
			}
		case 4:
			if got := Update32(before, [4]byte(old), [4]byte(new)); got != want {
				t.Fatalf("Update32 %x to %x: %#04x to %#04x, want %#04x", old, new, before, got, want)
			}
		}
	}
}

func TestUpdateBytesRefuses(t *testing.T) {
	for _, c := range [][2]int{{1, 1}, {2, 4}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("lengths %d and %d were accepted", c[0], c[1])
				}
			}()
			UpdateBytes(0, make([]byte, c[0]), make([]byte, c[1]))
		}()
	}
}

func TestIPv4HeaderOK(t *testing.T) {
	r := testenv.Rand(t)
	right := 0
	for range 20000 {
		var h [20]byte
		random(r, h[:])
		if r.IntN(2) == 0 {
			h[10], h[11] = 0, 0
			binary.BigEndian.PutUint16(h[10:], ^slowSum(h[:]))
		}
		want := slowSum(h[:]) == 0xffff
		if IPv4HeaderOK(&h) != want {
			t.Fatalf("%x: %v, want %v", h, !want, want)
		}
		if want {
			right++
		}
	}
	if right < 5000 {
		t.Fatalf("only %d right headers", right)
	}
}

// TestPseudo compares with the sum over pseudo headers laid out as the RFCs draw
// them.
func TestPseudo(t *testing.T) {
	r := testenv.Rand(t)
	for range 2000 {
		var s4, d4 [4]byte
		var s6, d6 [16]byte
		random(r, s4[:])
		random(r, d4[:])
		random(r, s6[:])
		random(r, d6[:])
		proto, n := uint8(r.Uint32()), r.Uint32()
		b := append(append(s4[:len(s4):len(s4)], d4[:]...), 0, proto, byte(n>>8), byte(n))
		if got := PseudoIPv4(s4, d4, proto, uint16(n)).Fold(); got != slowSum(b) {
			t.Fatalf("IPv4 %x: %#04x, want %#04x", b, got, slowSum(b))
		}
		b = append(s6[:len(s6):len(s6)], d6[:]...)
		b = append(binary.BigEndian.AppendUint32(b, n), 0, 0, 0, proto)
		if got := PseudoIPv6(s6, d6, proto, n).Fold(); got != slowSum(b) {
			t.Fatalf("IPv6 %x: %#04x, want %#04x", b, got, slowSum(b))
		}
	}
	// A TCP segment and a UDP datagram whose checksums were computed elsewhere.
	tcp, _ := hex.DecodeString("450000281234000040067cafc0a8010ac6336407138801bb000003e8000007d05010200082ec0000")
	if c := PseudoIPv4([4]byte(tcp[12:]), [4]byte(tcp[16:]), 6, 20).Add(tcp[20:]).Checksum(); c != 0 {
		t.Errorf("TCP: %#04x over the whole, want 0", c)
	}
	udp, _ := hex.DecodeString("46000024123400003f116e50cb007105c6336407940400009c400035000c385961626364")
	if c := PseudoIPv4([4]byte(udp[12:]), [4]byte(udp[16:]), 17, 12).Add(udp[24:]).Checksum(); c != 0 {
		t.Errorf("UDP: %#04x over the whole, want 0", c)
	}
}

func FuzzSum(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1})
	f.Add([]byte{0xff, 0xff, 0xff})
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, b []byte) { same(t, b) })
}

func TestNoAllocation(t *testing.T) {
	b := make([]byte, 1500)
	var h [20]byte
	if n := testing.AllocsPerRun(100, func() {
		_ = Of(b)
		_ = IPv4HeaderOK(&h)
		_ = PseudoIPv6([16]byte{}, [16]byte{}, 6, 1480).Add(b).Checksum()
		_ = UpdateBytes(1, b[:16], b[16:32])
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkSum1500(b *testing.B) {
	p := make([]byte, 1500)
	b.SetBytes(1500)
	for b.Loop() {
		Of(p)
	}
}

func BenchmarkSum64(b *testing.B) {
	p := make([]byte, 64)
	b.SetBytes(64)
	for b.Loop() {
		Of(p)
	}
}
