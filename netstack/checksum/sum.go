package checksum

import (
	"encoding/binary"
	"math/bits"
)

// Sum is a one's-complement sum that has not been folded yet. It holds words in
// the order of a little-endian machine (RFC 1071, 2(B): the sum does not depend
// on byte order, but for one swap at the end), so that the common machines load
// without swapping; Fold puts it right. The zero value is the empty sum.
type Sum uint64

// Add adds the bytes of b. Only the last piece of what is summed may have an
// odd length: it counts as if a zero byte followed.
func (s Sum) Add(b []byte) Sum {
	// A constant condition: each machine keeps one branch.
	if bits.UintSize == 64 {
		return addWide(s, b)
	}
	return addNarrow(s, b)
}

// Add16 adds one 16-bit word, in host order.
func (s Sum) Add16(w uint16) Sum { return s.plus(uint64(bits.ReverseBytes16(w))) }

// AddSum adds another sum, of a piece of even length.
func (s Sum) AddSum(o Sum) Sum { return s.plus(uint64(o)) }

func (s Sum) plus(x uint64) Sum {
	v, c := bits.Add64(uint64(s), x, 0)
	return Sum(v + c)
}

// Fold is the 16-bit one's-complement sum in host order. It is 0 only if every
// byte added was 0.
func (s Sum) Fold() uint16 {
	v := uint64(s)
	v = v>>32 + v&0xffffffff // 33 bits
	v = v>>16 + v&0xffff     // 18 bits
	v = v>>16 + v&0xffff     // 17 bits
	v = v>>16 + v&0xffff
	return bits.ReverseBytes16(uint16(v))
}

// Checksum is the complement of the folded sum: the number for a header whose
// checksum field counted as 0. Over a header with its checksum it is 0 if that
// is right. UDP sends a 0 as 0xffff.
func (s Sum) Checksum() uint16 { return ^s.Fold() }

// Of is the Internet checksum of b (RFC 1071).
func Of(b []byte) uint16 { return Sum(0).Add(b).Checksum() }

// addWide adds 64 bits at a time with the carry in the processor's flag.
func addWide(s Sum, b []byte) Sum {
	v, c := uint64(s), uint64(0)
	for len(b) >= 64 {
		p := (*[64]byte)(b)
		v, c = bits.Add64(v, binary.LittleEndian.Uint64(p[0:8]), 0)
		v, c = bits.Add64(v, binary.LittleEndian.Uint64(p[8:16]), c)
		v, c = bits.Add64(v, binary.LittleEndian.Uint64(p[16:24]), c)
		v, c = bits.Add64(v, binary.LittleEndian.Uint64(p[24:32]), c)
		v, c = bits.Add64(v, binary.LittleEndian.Uint64(p[32:40]), c)
		v, c = bits.Add64(v, binary.LittleEndian.Uint64(p[40:48]), c)
		v, c = bits.Add64(v, binary.LittleEndian.Uint64(p[48:56]), c)
		v, c = bits.Add64(v, binary.LittleEndian.Uint64(p[56:64]), c)
		// After a carry the low word is at most 2^64-2: this cannot carry again.
		v += c
		b = b[64:]
	}
	for len(b) >= 8 {
		v, c = bits.Add64(v, binary.LittleEndian.Uint64(b), 0)
		v += c
		b = b[8:]
	}
	return Sum(v).plus(tail(b))
}

// addNarrow adds 32 bits at a time into 64: a 32-bit machine has no 64-bit
// carry that Go could use. The upper word collects the carries and is folded in
// before each block, so any length is right.
func addNarrow(s Sum, b []byte) Sum {
	v := uint64(s)
	for len(b) >= 32 {
		p := (*[32]byte)(b)
		v = v>>32 + v&0xffffffff
		v += uint64(binary.LittleEndian.Uint32(p[0:4]))
		v += uint64(binary.LittleEndian.Uint32(p[4:8]))
		v += uint64(binary.LittleEndian.Uint32(p[8:12]))
		v += uint64(binary.LittleEndian.Uint32(p[12:16]))
		v += uint64(binary.LittleEndian.Uint32(p[16:20]))
		v += uint64(binary.LittleEndian.Uint32(p[20:24]))
		v += uint64(binary.LittleEndian.Uint32(p[24:28]))
		v += uint64(binary.LittleEndian.Uint32(p[28:32]))
		b = b[32:]
	}
	v = v>>32 + v&0xffffffff
	for len(b) >= 4 {
		v += uint64(binary.LittleEndian.Uint32(b))
		b = b[4:]
	}
	return Sum(v).plus(tail(b))
}

// tail is the last 0 to 7 bytes as one little-endian number, zeros behind.
func tail(b []byte) uint64 {
	var v uint64
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	return v
}
