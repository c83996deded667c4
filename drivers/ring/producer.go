package ring

import "sync/atomic"

// Producer is the end of a ring that fills it; make one with NewProducer. The
// zero value has no index memory and must not be used.
type Producer[T any] struct {
	entries []T
	// Shared: prod is written by us; cons and flags are written by the other side.
	prod, cons, flags *uint32
	// Local: next is where the next entry goes and equals *prod between calls;
	// seen is *cons as last read, never ahead of it.
	next, seen uint32
}

// NewProducer takes the filling end of s, whatever the indices in it say (a
// ring that has been in use may be taken over).
func NewProducer[T any](s Shared[T]) (Producer[T], error) {
	if err := s.check(); err != nil {
		return Producer[T]{}, err
	}
	return Producer[T]{
		entries: s.Entries, prod: s.Producer, cons: s.Consumer, flags: s.Flags,
		next: atomic.LoadUint32(s.Producer), seen: atomic.LoadUint32(s.Consumer),
	}, nil
}

// Cap is the number of entries.
func (p *Producer[T]) Cap() int { return len(p.entries) }

// Free returns how many entries may be set, at most want. It reads the other
// side's index only when the last reading does not show room for want.
func (p *Producer[T]) Free(want int) int {
	n := len(p.entries) - int(p.next-p.seen)
	if n < want {
		p.seen = atomic.LoadUint32(p.cons)
		n = len(p.entries) - int(p.next-p.seen)
	}
	return min(n, want)
}

// Set writes entry i of the batch being prepared, counted from 0; i is below
// what Free returned. The other side does not see it before Publish.
func (p *Producer[T]) Set(i int, v T) {
	// The test of the mask takes the place of the bounds check: a power of two
	// leaves only "no entries at all" to be excluded.
	e := p.entries
	if m := len(e) - 1; m >= 0 {
		e[(int(p.next)+i)&m] = v
	}
}

// Publish hands the first n prepared entries over, in one store.
func (p *Producer[T]) Publish(n int) {
	p.next += uint32(n)
	atomic.StoreUint32(p.prod, p.next)
}

// Pending is how many entries the other side has not taken yet. It always reads
// the other side's index: a decision on what a ring holds must not stand on an
// old reading.
func (p *Producer[T]) Pending() int {
	p.seen = atomic.LoadUint32(p.cons)
	return int(p.next - p.seen)
}

// NeedWakeup reports whether the kernel asks for a system call before it looks
// at this ring again. Read it after Publish.
func (p *Producer[T]) NeedWakeup() bool {
	return atomic.LoadUint32(p.flags)&flagNeedWakeup != 0
}
