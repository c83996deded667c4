package ring

import (
	"math"
	"slices"
	"testing"
	"unsafe"
)

// spscAt is an empty ring that has already moved start entries.
func spscAt(t testing.TB, size int, start uint32) *SPSC[int] {
	t.Helper()
	r, err := NewSPSC[int](size)
	if err != nil {
		t.Fatal(err)
	}
	r.head.Store(start)
	r.tail.Store(start)
	r.headSeen, r.tailSeen = start, start
	return r
}

// Every sequence of batches of every size at every boundary, against a plain
// queue.
func TestSPSCWrapExhaustive(t *testing.T) {
	for size, depth := range map[int]int{1: 5, 2: 4, 4: 3} {
		for _, start := range starts(size) {
			steps := 2 * (size + 2) // one more than fits, too
			total := 1
			for range depth {
				total *= steps
			}
			for code := range total {
				spscReplay(t, spscAt(t, size, start), size, steps, depth, code)
			}
		}
	}
}

func spscReplay(t *testing.T, r *SPSC[int], size, steps, depth, code int) {
	t.Helper()
	var queue []int
	next := 1
	for c := code; depth > 0; depth-- {
		step := c % steps
		c /= steps
		batch := make([]int, step/2)
		if step%2 == 0 {
			for i := range batch {
				batch[i] = next + i
			}
			n := r.Push(batch)
			if want := min(len(batch), size-len(queue)); n != want {
				t.Fatalf("sequence %d: Push took %d of %d with %d of %d in use", code, n, len(batch), len(queue), size)
			}
			queue = append(queue, batch[:n]...)
			next += n
		} else {
			n := r.Pop(batch)
			if want := min(len(batch), len(queue)); n != want || !slices.Equal(batch[:n], queue[:n]) {
				t.Fatalf("sequence %d: Pop gave %v, want %v", code, batch[:n], queue[:want])
			}
			queue = queue[n:]
		}
		if r.Len() != len(queue) {
			t.Fatalf("sequence %d: Len = %d, want %d", code, r.Len(), len(queue))
		}
	}
}

// What the two sides write lies on different cache lines, and neither shares
// one with the slice header that both read.
func TestSPSCLayout(t *testing.T) {
	var r SPSC[uint64]
	tail, head := unsafe.Offsetof(r.tail), unsafe.Offsetof(r.head)
	if d := head - tail; d < cacheLine {
		t.Errorf("tail and head are %d bytes apart, want %d", d, cacheLine)
	}
	if d := tail - unsafe.Offsetof(r.entries); d < cacheLine {
		t.Errorf("entries and tail are %d bytes apart, want %d", d, cacheLine)
	}
	if d := unsafe.Sizeof(r) - head; d < cacheLine {
		t.Errorf("the last line ends after %d bytes, want %d", d, cacheLine)
	}
}

func TestNoAllocation(t *testing.T) {
	r := spscAt(t, 64, math.MaxUint32)
	p, c, _ := ends[Desc](t, 64, math.MaxUint32)
	var buf [64]int
	n := testing.AllocsPerRun(100, func() {
		r.Push(buf[:])
		r.Pop(buf[:])
		for i := range p.Free(64) {
			p.Set(i, Desc{})
		}
		p.Publish(64)
		c.Release(c.Avail(64))
	})
	if n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}

func BenchmarkSPSC(b *testing.B) {
	r := spscAt(b, 1024, 0)
	var buf [64]int
	for b.Loop() {
		r.Push(buf[:])
		r.Pop(buf[:])
	}
}
