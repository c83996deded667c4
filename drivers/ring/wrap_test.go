package ring

import (
	"fmt"
	"math"
	"testing"
)

// starts are indices from which a few steps cross every boundary: the ring's
// end and 2^32, and for small rings the sign bit.
func starts(entries int) []uint32 {
	var s []uint32
	for d := -2 * entries; d <= 1; d++ {
		s = append(s, uint32(d))
		if entries < 4 {
			s = append(s, 1<<31+uint32(d))
		}
	}
	return s
}

// Every sequence of up to depth batches, of every size, at every boundary,
// against a plain queue.
func TestWrapExhaustive(t *testing.T) {
	for entries, depth := range map[int]int{1: 6, 2: 5, 4: 4} {
		for _, start := range starts(entries) {
			// A step is k in 0..entries entries produced, or k consumed.
			steps := 2 * (entries + 1)
			total := 1
			for range depth {
				total *= steps
			}
			for code := range total {
				p, c, m := ends[uint64](t, entries, start)
				if err := replay(p, c, m, entries, steps, depth, code); err != nil {
					t.Fatalf("%d entries, start %#x, sequence %d: %v", entries, start, code, err)
				}
			}
		}
	}
}

func replay(p *Producer[uint64], c *Consumer[uint64], m Shared[uint64], entries, steps, depth, code int) error {
	var queue []uint64
	next := uint64(1)
	for range depth {
		step := code % steps
		code /= steps
		if k := step / 2; step%2 == 0 {
			n := p.Free(k)
			if want := min(k, entries-len(queue)); n != want {
				return fmt.Errorf("Free(%d) = %d with %d of %d in use", k, n, len(queue), entries)
			}
			for i := range n {
				p.Set(i, next)
				queue = append(queue, next)
				next++
			}
			if got := *m.Producer; n > 0 && got != p.next {
				return fmt.Errorf("entries seen before Publish: %#x, %#x", got, p.next)
			}
			p.Publish(n)
		} else {
			n := c.Avail(k)
			if want := min(k, len(queue)); n != want {
				return fmt.Errorf("Avail(%d) = %d with %d in use", k, n, len(queue))
			}
			for i := range n {
				if got := c.Get(i); got != queue[i] {
					return fmt.Errorf("entry %d is %d, want %d", i, got, queue[i])
				}
			}
			c.Release(n)
			queue = queue[n:]
		}
		if p.Pending() != len(queue) || c.Waiting() != len(queue) {
			return fmt.Errorf("Pending %d, Waiting %d, want %d", p.Pending(), c.Waiting(), len(queue))
		}
		if d := *m.Producer - *m.Consumer; d != uint32(len(queue)) {
			return fmt.Errorf("indices %d apart, want %d", d, len(queue))
		}
	}
	return nil
}

// An end made over a ring in use goes on where the last owner stopped.
func TestTakeOver(t *testing.T) {
	p, c, m := ends[uint64](t, 8, math.MaxUint32-3)
	for i := range p.Free(6) {
		p.Set(i, uint64(10+i))
	}
	p.Publish(6)
	c.Release(c.Avail(2))
	q, err := NewProducer(m)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewConsumer(m)
	if err != nil {
		t.Fatal(err)
	}
	if n := q.Free(100); n != 4 {
		t.Errorf("new producer: %d free, want 4", n)
	}
	if n := d.Avail(100); n != 4 || d.Get(0) != 12 || d.Get(3) != 15 {
		t.Errorf("new consumer: %d there, from %d", n, d.Get(0))
	}
}

// The local copies spare reads of the other side's index, and never lie: what
// they grant is there.
func TestLocalCopies(t *testing.T) {
	p, c, m := ends[uint64](t, 8, 0)
	if p.Free(8) != 8 {
		t.Fatal("empty ring is not free")
	}
	*m.Consumer = 99 // nonsense: must not be read while the copy shows room
	if n := p.Free(8); n != 8 {
		t.Errorf("Free re-read the consumer though it had room: %d", n)
	}
	*m.Consumer = 0
	p.Publish(8)
	if c.Avail(3) != 3 {
		t.Fatal("nothing to read")
	}
	c.Release(3)
	*m.Producer = 99
	if n := c.Avail(5); n != 5 {
		t.Errorf("Avail re-read the producer though it had entries: %d", n)
	}
	*m.Producer = 8
	if n := p.Free(4); n != 3 {
		t.Errorf("Free(4) = %d after 3 were taken, want a fresh 3", n)
	}
}

func TestNeedWakeup(t *testing.T) {
	p, _, m := ends[Desc](t, 2, 0)
	for _, f := range []uint32{0, 1, 2, 3} {
		*m.Flags = f
		if got, want := p.NeedWakeup(), f&1 == 1; got != want {
			t.Errorf("flags %d: NeedWakeup = %v", f, got)
		}
	}
}
