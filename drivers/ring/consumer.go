package ring

import "sync/atomic"

// Consumer is the end of a ring that empties it; make one with NewConsumer. The
// zero value has no index memory and must not be used.
type Consumer[T any] struct {
	entries []T
	// Shared: prod is written by the other side; cons is written by us.
	prod, cons *uint32
	// Local: next is the first entry not yet given back and equals *cons between
	// calls; seen is *prod as last read, never ahead of it.
	next, seen uint32
}

// NewConsumer takes the emptying end of s, whatever the indices in it say.
func NewConsumer[T any](s Shared[T]) (Consumer[T], error) {
	if err := s.check(); err != nil {
		return Consumer[T]{}, err
	}
	return Consumer[T]{
		entries: s.Entries, prod: s.Producer, cons: s.Consumer,
		next: atomic.LoadUint32(s.Consumer), seen: atomic.LoadUint32(s.Producer),
	}, nil
}

// Cap is the number of entries.
func (c *Consumer[T]) Cap() int { return len(c.entries) }

// Avail returns how many entries may be read, at most want. It reads the other
// side's index only when the last reading does not show want of them, so that a
// short answer is as fresh as can be.
func (c *Consumer[T]) Avail(want int) int {
	n := int(c.seen - c.next)
	if n < want {
		c.seen = atomic.LoadUint32(c.prod)
		n = int(c.seen - c.next)
	}
	return min(n, want)
}

// Get reads entry i of those that Avail counted, from 0. It stays readable
// until Release.
func (c *Consumer[T]) Get(i int) (v T) {
	e := c.entries
	if m := len(e) - 1; m >= 0 { // instead of a bounds check, as in Set
		v = e[(int(c.next)+i)&m]
	}
	return v
}

// Release gives the first n entries back to the other side, in one store.
func (c *Consumer[T]) Release(n int) {
	c.next += uint32(n)
	atomic.StoreUint32(c.cons, c.next)
}

// Waiting is how many entries are there to read. It always reads the other
// side's index.
func (c *Consumer[T]) Waiting() int {
	c.seen = atomic.LoadUint32(c.prod)
	return int(c.seen - c.next)
}
