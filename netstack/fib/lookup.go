package fib

import (
	"encoding/binary"
	"math/bits"
)

// Lookup4 finds the longest prefix that holds an IPv4 address (network order).
func (t *Table) Lookup4(a [4]byte) (uint32, bool) {
	v := t.v4.root.lookup(uint64(binary.BigEndian.Uint32(a[:]))<<32, 0)
	return v, v != None
}

// Lookup6 finds the longest prefix that holds an IPv6 address (network order).
func (t *Table) Lookup6(a [16]byte) (uint32, bool) {
	v := t.v6.root.lookup(binary.BigEndian.Uint64(a[0:8]), binary.BigEndian.Uint64(a[8:16]))
	return v, v != None
}

// lookup walks down an octet at a time and keeps the last value it saw, which
// is the longest prefix's. A node is never deeper than a prefix reaches, so it
// ends before the octets do. The next octet is always on top of h: shifts by
// constants are cheap on 32-bit machines too.
func (n *node) lookup(hi, lo uint64) uint32 {
	best := uint32(None)
	h, l := hi, lo
	for {
		o := uint8(h >> 56)
		w, bit := o>>5, uint32(1)<<(o&31)
		if len(n.values) != 0 {
			// Octet 0 begins a run: there is one at or before o.
			i := int(n.runs.rank[w]) + bits.OnesCount32(n.runs.word[w]&(bit|(bit-1))) - 1
			if v := n.values[i]; v != None {
				best = v
			}
		}
		below := n.below.word[w]
		if below&bit == 0 {
			return best
		}
		s := &n.subs[int(n.below.rank[w])+bits.OnesCount32(below&(bit-1))]
		if s.node == nil {
			if s.leaf.holds(hi, lo) {
				return s.leaf.value
			}
			return best
		}
		n = s.node
		h, l = h<<8|l>>56, l<<8
	}
}
