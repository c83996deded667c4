package ring

import "sync/atomic"

// cacheLine separates what two CPUs write. 128 covers the 64-byte lines of
// Cortex-A and x86 and the pairs of lines that x86 fetches together.
const cacheLine = 128

// SPSC is a ring in Go memory between one producing and one consuming
// goroutine. Neither ever waits for the other and nothing is allocated after
// NewSPSC. Entries that have been popped stay in memory until they are
// overwritten: let T hold no pointers, or what they point to lives on.
type SPSC[T any] struct {
	entries []T // written by Push, read by Pop
	_       [cacheLine]byte
	// The producer's line. tail is written by Push only; head as it last saw it.
	tail     atomic.Uint32
	headSeen uint32
	_        [cacheLine - 8]byte
	// The consumer's line. head is written by Pop only; tail as it last saw it.
	head     atomic.Uint32
	tailSeen uint32
	_        [cacheLine - 8]byte
}

// NewSPSC makes a ring of size entries, a power of two.
func NewSPSC[T any](size int) (*SPSC[T], error) {
	if err := CheckSize(size); err != nil {
		return nil, err
	}
	return &SPSC[T]{entries: make([]T, size)}, nil
}

// Cap is the number of entries.
func (r *SPSC[T]) Cap() int { return len(r.entries) }

// Len is how many entries were in the ring at some moment of the call. Any
// goroutine may ask.
func (r *SPSC[T]) Len() int {
	// head first: tail only grows, so the difference is never negative, and it is
	// cut to Cap for the entries pushed and popped between the two loads.
	h := r.head.Load()
	return min(int(r.tail.Load()-h), len(r.entries))
}

// Push appends as many of src as there is room for, in order, and returns how
// many. Only the producer calls it.
func (r *SPSC[T]) Push(src []T) int {
	e, t := r.entries, r.tail.Load()
	n := len(e) - int(t-r.headSeen)
	if n < len(src) {
		r.headSeen = r.head.Load()
		n = len(e) - int(t-r.headSeen)
	}
	n = min(n, len(src))
	if m := len(e) - 1; n > 0 && m >= 0 { // m: no bounds check in the loop
		for i, v := range src[:n] {
			e[(int(t)+i)&m] = v
		}
		r.tail.Store(t + uint32(n))
	}
	return n
}

// Pop moves as many entries as there are, at most len(dst), to dst in order and
// returns how many. Only the consumer calls it.
func (r *SPSC[T]) Pop(dst []T) int {
	e, h := r.entries, r.head.Load()
	n := int(r.tailSeen - h)
	if n < len(dst) {
		r.tailSeen = r.tail.Load()
		n = int(r.tailSeen - h)
	}
	n = min(n, len(dst))
	if m := len(e) - 1; n > 0 && m >= 0 { // m: no bounds check in the loop
		d := dst[:n]
		for i := range d {
			d[i] = e[(int(h)+i)&m]
		}
		r.head.Store(h + uint32(n))
	}
	return n
}
