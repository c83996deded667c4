package snaptest

import (
	"encoding/binary"
	"math/rand/v2"
)

// Grammar makes random Ethernet frames with IPv4 and IPv6 packets. Most are
// valid; the rest are odd or broken in one or two ways that routers have got
// wrong: TTL 0, 1, 2, lengths that lie, options, fragments, extension headers,
// checksum errors, addresses that are not to be routed, tags, padding that is
// not zero, frames cut anywhere. All from R: the same seed gives the same frames.
type Grammar struct {
	R *rand.Rand
	// Station is the MAC that valid frames go to.
	Station [6]byte
	// Src4, Dst4, Src6, Dst6 are the addresses of valid packets.
	Src4, Dst4 [][4]byte
	Src6, Dst6 [][16]byte
	// Odd4 and Odd6 are addresses to try beside those that every router must
	// mind: the router's own, broadcast addresses, and the like.
	Odd4 [][4]byte
	Odd6 [][16]byte
	// MTU is the size of a large valid packet; some are larger.
	MTU int
	// Broken is the share of frames that are not valid, in percent.
	Broken int
}

var (
	special4 = [][4]byte{
		{}, {0, 1, 2, 3}, {127, 0, 0, 1}, {127, 255, 255, 255}, {128, 0, 0, 1}, {126, 255, 255, 255},
		{169, 254, 1, 1}, {223, 255, 255, 255}, {224, 0, 0, 5}, {239, 255, 255, 250}, {240, 0, 0, 1}, {255, 255, 255, 255},
	}
	special6 = [][16]byte{
		{}, {15: 1}, {15: 2}, {10: 0xff, 11: 0xff, 12: 192, 13: 0, 14: 2, 15: 1}, {12: 192, 14: 2, 15: 1},
		{0: 0xfe, 1: 0x80, 15: 1}, {0: 0xfe, 1: 0xbf, 15: 1}, {0: 0xfe, 1: 0xc0, 15: 1}, {0: 0xfe, 1: 0x7f},
		{0: 0xff, 1: 0x02, 15: 1}, {0: 0xff, 1: 0x0e, 15: 5}, {0: 0xfc, 15: 1}, {7: 1, 15: 1}, {1: 0x64, 2: 0xff, 3: 0x9b, 15: 1},
	}
	protocols  = []uint8{1, 6, 17, 17, 6, 47, 50, 132, 253}
	nexts      = []uint8{6, 17, 17, 6, 58, 50, 59, 132, 253}
	extensions = []uint8{0, 43, 44, 51, 60, 135, 139, 140}
)

func pick[T any](r *rand.Rand, a []T) T { return a[r.IntN(len(a))] }

// Frame makes one frame, in memory of its own.
func (g *Grammar) Frame() []byte {
	r := g.R
	faults := 0
	if r.IntN(100) < g.Broken {
		faults = 1 + r.IntN(2)
	}
	var b []byte
	six := r.IntN(3) == 0
	if six {
		b = g.packet6(faults > 0 && r.IntN(4) == 0)
	} else {
		b = g.packet4(faults > 0 && r.IntN(4) == 0)
	}
	f := make([]byte, 14, 14+len(b)+64)
	copy(f, g.Station[:])
	copy(f[6:], []byte{2, 0, 0, 9, 9, byte(r.Uint32())})
	f[12], f[13] = 0x08, 0x00
	if six {
		f[12], f[13] = 0x86, 0xdd
	}
	f = append(f, b...)
	for len(f) < 60 {
		f = append(f, byte(r.Uint32()))
	}
	if r.IntN(8) == 0 { // a trailer, which some drivers leave in place
		for range r.IntN(20) {
			f = append(f, byte(r.Uint32()))
		}
	}
	for range faults {
		switch {
		case r.IntN(4) == 0:
			f = g.breakEthernet(f)
		case six:
			g.break6(f)
		default:
			g.break4(f)
		}
	}
	return f
}

// size is the length of a packet with a header of at least n bytes.
func (g *Grammar) size(n int) int {
	switch g.R.IntN(8) {
	case 0:
		return n
	case 1:
		return g.MTU
	case 2:
		return g.MTU - g.R.IntN(3)
	case 3:
		return n + g.R.IntN(g.MTU-n)
	}
	return n + g.R.IntN(80)
}

func (g *Grammar) packet4(options bool) []byte {
	r, hl := g.R, 20
	if options {
		hl += 4 * (1 + r.IntN(10))
	}
	b := make([]byte, g.size(hl))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	b[0] = 0x40 | byte(hl/4)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	binary.BigEndian.PutUint16(b[6:], uint16(r.IntN(2))<<14|uint16(r.IntN(16)/15)<<15) // DF; the reserved bit, rarely
	b[8] = byte(2 + r.IntN(254))
	b[9] = pick(r, protocols)
	src, dst := pick(r, g.Src4), pick(r, g.Dst4)
	copy(b[12:], src[:])
	copy(b[16:], dst[:])
	if options {
		for i := 20; i < hl; i++ {
			b[i] = 1 // no operation
		}
		if r.IntN(2) == 0 {
			copy(b[20:], []byte{0x94, 4, 0, 0}) // router alert
		}
	}
	mend4(b)
	return b
}

// mend4 computes the header checksum, over as much of the header as is there.
func mend4(b []byte) {
	hl := min(int(b[0]&15)*4, len(b)&^1)
	if hl < 20 {
		return
	}
	b[10], b[11] = 0, 0
	sum := uint32(0)
	for i := 0; i < hl; i += 2 {
		sum += uint32(b[i])<<8 | uint32(b[i+1])
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(b[10:], ^uint16(sum))
}

func (g *Grammar) packet6(extension bool) []byte {
	r := g.R
	b := make([]byte, g.size(40))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	b[0] = 0x60 | b[0]&15
	binary.BigEndian.PutUint16(b[4:], uint16(len(b)-40))
	b[6] = pick(r, nexts)
	if extension {
		b[6] = pick(r, extensions)
	}
	b[7] = byte(2 + r.IntN(254))
	src, dst := pick(r, g.Src6), pick(r, g.Dst6)
	copy(b[8:], src[:])
	copy(b[24:], dst[:])
	return b
}

func (g *Grammar) breakEthernet(f []byte) []byte {
	r := g.R
	if len(f) < 14 { // cut already
		return f
	}
	switch r.IntN(9) {
	case 0:
		f[5] ^= byte(1 + r.IntN(255)) // somebody else's
	case 1:
		copy(f, []byte{255, 255, 255, 255, 255, 255})
	case 2:
		copy(f, []byte{1, 0, 0x5e, byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())})
	case 3:
		binary.BigEndian.PutUint16(f[12:], pick(r, []uint16{0x0806, 0x0805, 0x8035, 0x8863, 0x88cc, 0x0000, 0x05dc, uint16(len(f) - 14)}))
	case 4:
		f[12], f[13] = f[12]^0x86^0x08, f[13]^0xdd // the other family's type
	case 5, 6: // a tag, or two
		tag := binary.BigEndian.AppendUint16(nil, pick(r, []uint16{0x8100, 0x8100, 0x88a8}))
		tag = binary.BigEndian.AppendUint16(tag, pick(r, []uint16{0, 0xc000, 1, 20, 0x0fff}))
		f = append(f[:12:12], append(tag, f[12:]...)...)
	case 7:
		f = f[:r.IntN(len(f)+1)] // cut anywhere
	case 8:
		f = f[:min(len(f), 14+r.IntN(48))] // cut inside the headers
	}
	return f
}

func (g *Grammar) break4(f []byte) {
	if len(f) < 34 {
		return
	}
	r, b := g.R, f[14:]
	switch r.IntN(12) {
	case 0:
		b[8] = byte(r.IntN(3)) // TTL 0, 1, 2
	case 1:
		binary.BigEndian.PutUint16(b[2:], pick(r, []uint16{0, 1, 19, 20, 21, uint16(len(b)), uint16(len(b) + 1), 0xffff, uint16(r.Uint32())}))
	case 2:
		b[0] = 0x40 | byte(r.IntN(16)) // header length
	case 3:
		b[0] = byte(r.IntN(16))<<4 | 5 // version
	case 4:
		binary.BigEndian.PutUint16(b[6:], pick(r, []uint16{0x2000, 0x20b9, 0x00b9, 0x0001, 0x1fff, 0x6000, 0x8000, 0x4000}))
	case 5, 6: // checksum, not mended
		d := pick(r, []uint16{1, 0xffff, 0x0100, 0x8000, uint16(r.Uint32())})
		binary.BigEndian.PutUint16(b[10:], binary.BigEndian.Uint16(b[10:])+d)
		return
	case 7: // the checksum's other zero
		if c := binary.BigEndian.Uint16(b[10:]); c == 0 || c == 0xffff {
			binary.BigEndian.PutUint16(b[10:], ^c)
		}
		return
	case 8:
		a := pick(r, append(special4, g.Odd4...))
		copy(b[12:], a[:])
	case 9, 10:
		a := pick(r, append(special4, g.Odd4...))
		copy(b[16:], a[:])
	case 11: // any bit
		b[r.IntN(20)] ^= 1 << r.IntN(8)
	}
	mend4(b)
}

func (g *Grammar) break6(f []byte) {
	if len(f) < 54 {
		return
	}
	r, b := g.R, f[14:]
	switch r.IntN(8) {
	case 0:
		b[7] = byte(r.IntN(3)) // hop limit 0, 1, 2
	case 1:
		binary.BigEndian.PutUint16(b[4:], pick(r, []uint16{0, 1, uint16(len(b) - 40), uint16(len(b) - 39), 0xffff, uint16(r.Uint32())}))
	case 2:
		b[0] = byte(r.IntN(16)) << 4 // version
	case 3:
		b[6] = pick(r, extensions)
	case 4:
		a := pick(r, append(special6, g.Odd6...))
		copy(b[8:], a[:])
	case 5, 6:
		a := pick(r, append(special6, g.Odd6...))
		copy(b[24:], a[:])
	case 7: // any bit
		b[r.IntN(40)] ^= 1 << r.IntN(8)
	}
}
