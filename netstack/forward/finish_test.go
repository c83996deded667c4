package forward

import (
	"bytes"
	"encoding/binary"
	"testing"

	"weir/netstack/frame"
)

// l4 is the slow twin's sum: 16 bits at a time, over the pseudo header and l4.
func slowL4(src, dst []byte, proto byte, l4 []byte) uint16 {
	b := append(append([]byte(nil), src...), dst...)
	b = append(b, 0, proto, byte(len(l4)>>8), byte(len(l4)))
	b = append(b, l4...)
	if len(b)%2 == 1 {
		b = append(b, 0)
	}
	var s uint32
	for i := 0; i < len(b); i += 2 {
		s += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for s>>16 != 0 {
		s = s&0xffff + s>>16
	}
	return uint16(s)
}

// segment is a frame with n bytes of payload behind a TCP or UDP header whose
// checksum field is left 0; at is where the field is.
func segment(v6 bool, proto byte, n int) (f, src, dst, l4 []byte, at int) {
	head, field := 20, 16
	if proto == 17 {
		head, field = 8, 6
	}
	size := head + n
	if v6 {
		f = make([]byte, 14+40+size)
		f[12], f[13] = 0x86, 0xdd
		ip := f[14:]
		ip[0], ip[6], ip[7] = 0x60, proto, 64
		binary.BigEndian.PutUint16(ip[4:], uint16(size))
		copy(ip[8:], bytes.Repeat([]byte{0x20, 1}, 8))
		copy(ip[24:], bytes.Repeat([]byte{0x20, 2}, 8))
		src, dst, l4 = ip[8:24], ip[24:40], ip[40:]
	} else {
		f = make([]byte, 14+20+size)
		f[12], f[13] = 8, 0
		ip := f[14:]
		ip[0], ip[8], ip[9] = 0x45, 64, proto
		binary.BigEndian.PutUint16(ip[2:], uint16(20+size))
		copy(ip[12:], []byte{10, 1, 0, 2, 10, 2, 0, 2})
		src, dst, l4 = ip[12:16], ip[16:20], ip[20:]
	}
	for i := range l4 {
		l4[i] = byte(i*31 + n)
	}
	if proto == 6 {
		l4[12] = 5 << 4
	} else {
		binary.BigEndian.PutUint16(l4[4:], uint16(size))
	}
	l4[field], l4[field+1] = 0, 0
	return f, src, dst, l4, len(f) - size + field
}

func TestFinishChecksums(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		for _, proto := range []byte{6, 17} {
			for n := range 200 {
				f, src, dst, l4, at := segment(v6, proto, n)
				full := ^slowL4(src, dst, proto, l4)
				if full == 0 && proto == 17 {
					full = 0xffff
				}
				want := append([]byte(nil), f...)
				binary.BigEndian.PutUint16(want[at:], full)

				// As the sender leaves it: the pseudo header's sum.
				pseudo := slowL4(src, dst, proto, nil)
				pseudo = fold(uint32(pseudo) + uint32(len(l4)))
				binary.BigEndian.PutUint16(f[at:], pseudo)
				if got := run(f); !bytes.Equal(got, want) {
					t.Fatalf("v6 %v proto %d payload %d: checksum %x, want %x", v6, proto, n, got[at:at+2], want[at:at+2])
				}
				// Complete, and wrong ones, stay.
				for _, c := range []uint16{full, full + 1, 0, ^pseudo} {
					if c == pseudo {
						continue
					}
					binary.BigEndian.PutUint16(f[at:], c)
					if got := run(f); !bytes.Equal(got, f) {
						t.Fatalf("v6 %v proto %d payload %d: checksum %04x was changed", v6, proto, n, c)
					}
				}
			}
		}
	}
}

func fold(s uint32) uint16 { return uint16(s&0xffff + s>>16) }

// run finishes a copy of f.
func run(f []byte) []byte {
	var b frame.Batch
	b.N = 1
	b.F[0].Data = append([]byte(nil), f...)
	FinishChecksums(&b)
	return b.F[0].Data
}

// Whatever the frame is cut to, nothing beyond it is read.
func TestFinishChecksumsTruncated(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		f, _, _, _, _ := segment(v6, 17, 20)
		for n := range f {
			g := f[:n:n]
			if got := run(g); !bytes.Equal(got, g) {
				t.Errorf("v6 %v, cut to %d: changed", v6, n)
			}
		}
	}
}
