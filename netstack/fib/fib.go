package fib

import (
	"iter"
	"net/netip"
)

// None is the one number that no prefix may have as its value; a look-up that
// finds nothing returns it.
const None = 1<<32 - 1

// Table maps prefixes to values. It is immutable: With returns a new one.
// Make the first one with New.
type Table struct {
	v4, v6 family
}

// family is the trie of one address family, and how many prefixes it holds.
type family struct {
	root *node
	n    int
}

// New returns an empty table.
func New() *Table { return &Table{family{root: new(node)}, family{root: new(node)}} }

// Change sets a prefix to Value, or deletes it. Bits behind the prefix's length
// do not count; an invalid prefix changes nothing.
type Change struct {
	Prefix netip.Prefix
	Value  uint32 // not None
	Delete bool
}

// With returns the table with the changes applied in order; t stays as it is. It
// copies the nodes that the changes touch, each once, and shares all others:
// many changes in one call cost much less than many calls.
func (t *Table) With(changes []Change) *Table {
	next := *t
	var e edit
	for i := range changes {
		c := &changes[i]
		if !c.Prefix.IsValid() {
			continue
		}
		f := &next.v4
		if c.Prefix.Addr().Is6() {
			f = &next.v6
		}
		p := prefixOf(c.Prefix)
		if _, had := f.root.get(p, 0); c.Delete && had {
			f.root = e.delete(f.root, p, 0)
			f.n--
		} else if !c.Delete {
			if c.Value == None {
				panic("fib: None is not a value")
			}
			f.root = e.set(f.root, p, 0, c.Value)
			if !had {
				f.n++
			}
		}
	}
	e.finish()
	return &next
}

// Get returns the value of exactly this prefix.
func (t *Table) Get(p netip.Prefix) (uint32, bool) {
	if !p.IsValid() {
		return 0, false
	}
	if p.Addr().Is6() {
		return t.v6.root.get(prefixOf(p), 0)
	}
	return t.v4.root.get(prefixOf(p), 0)
}

// All yields every prefix and its value, IPv4 first.
func (t *Table) All() iter.Seq2[netip.Prefix, uint32] {
	return func(yield func(netip.Prefix, uint32) bool) {
		_ = t.v4.root.each(prefix{}, 0, func(p prefix, v uint32) bool { return yield(p.netip4(), v) }) &&
			t.v6.root.each(prefix{}, 0, func(p prefix, v uint32) bool { return yield(p.netip6(), v) })
	}
}

// Len is the number of IPv4 and of IPv6 prefixes.
func (t *Table) Len() (v4, v6 int) { return t.v4.n, t.v6.n }
