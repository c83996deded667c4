package fib

import (
	"iter"
	"net/netip"

	"github.com/gaissmai/bart"
)

// Table maps prefixes to values. It is immutable: With returns a new one.
// Make the first one with New.
type Table struct {
	v4, v6 *bart.Table[uint32]
}

// New returns an empty table.
func New() *Table { return &Table{v4: new(bart.Table[uint32]), v6: new(bart.Table[uint32])} }

// Change sets a prefix to Value, or deletes it. The prefix must be masked.
type Change struct {
	Prefix netip.Prefix
	Value  uint32
	Delete bool
}

// With returns the table with the changes applied in order; t stays as it is.
func (t *Table) With(changes []Change) *Table {
	n := *t
	for _, c := range changes {
		b := &n.v4
		if c.Prefix.Addr().Is6() {
			b = &n.v6
		}
		if c.Delete {
			*b = (*b).DeletePersist(c.Prefix)
		} else {
			*b = (*b).InsertPersist(c.Prefix, c.Value)
		}
	}
	return &n
}

// Lookup4 finds the longest prefix that holds an IPv4 address (network order).
func (t *Table) Lookup4(a [4]byte) (uint32, bool) { return t.v4.Lookup(netip.AddrFrom4(a)) }

// Lookup6 finds the longest prefix that holds an IPv6 address (network order).
func (t *Table) Lookup6(a [16]byte) (uint32, bool) { return t.v6.Lookup(netip.AddrFrom16(a)) }

// Get returns the value of exactly this prefix.
func (t *Table) Get(p netip.Prefix) (uint32, bool) {
	if p.Addr().Is6() {
		return t.v6.Get(p)
	}
	return t.v4.Get(p)
}

// All yields every prefix and its value, IPv4 first.
func (t *Table) All() iter.Seq2[netip.Prefix, uint32] {
	return func(yield func(netip.Prefix, uint32) bool) {
		for _, b := range []*bart.Table[uint32]{t.v4, t.v6} {
			for p, v := range b.All() {
				if !yield(p, v) {
					return
				}
			}
		}
	}
}

// Len is the number of IPv4 and of IPv6 prefixes.
func (t *Table) Len() (v4, v6 int) { return t.v4.Size(), t.v6.Size() }
