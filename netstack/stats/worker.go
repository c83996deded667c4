package stats

import (
	"sync/atomic"
	"time"

	"weir/netstack/frame"
)

// padding keeps a Worker's cache lines its own, whatever lies beside it: 64
// bytes on the ARM cores, fetched in pairs on amd64.
type padding [128]byte

// Worker is one worker's published counters. The zero value is ready; it must
// not be copied. The worker's goroutine alone calls Add; Read is for everybody.
//
// The worker counts in a Tally of its own and adds that once a batch. So the
// loop pays no atomic operation per frame, and the 64-bit stores, which 32-bit
// ARM makes with an exclusive pair, are as few as the counters that changed.
type Worker struct {
	_ padding

	// version is odd while Add is at work, so that a reader gets the counters of
	// one moment. Written by the worker, as everything below.
	version atomic.Uint32

	rx, forwarded, handedOver, batches, polls atomic.Uint64
	punts, drops                              [frame.NumReasons]atomic.Uint64

	_ padding
}

// Add publishes what the worker counted in t since its last call, and sets t to
// zero.
func (w *Worker) Add(t *Tally) {
	v := w.version.Load()
	w.version.Store(v + 1)
	add(&w.rx, t.RX)
	add(&w.forwarded, t.Forwarded)
	add(&w.handedOver, t.HandedOver)
	add(&w.batches, t.Batches)
	add(&w.polls, t.Polls)
	for i := range w.punts {
		add(&w.punts[i], t.Punts[i])
		add(&w.drops[i], t.Drops[i])
	}
	w.version.Store(v + 2)
	*t = Tally{}
}

// add needs no read-modify-write: there is one writer.
func add(c *atomic.Uint64, n uint64) {
	if n != 0 {
		c.Store(c.Load() + n)
	}
}

// Read is what the worker has published: each counter whole, and all of the same
// moment. It does not disturb the worker; it looks again if an Add was at work.
func (w *Worker) Read() Tally {
	for try := 1; ; try++ {
		if try%32 == 0 {
			// An Add takes well under a microsecond. Its thread must have lost the
			// CPU halfway, perhaps the only one, to this one: give it back.
			time.Sleep(50 * time.Microsecond)
		}
		v := w.version.Load()
		t := Tally{
			RX:         w.rx.Load(),
			Forwarded:  w.forwarded.Load(),
			HandedOver: w.handedOver.Load(),
			Batches:    w.batches.Load(),
			Polls:      w.polls.Load(),
		}
		for i := range t.Punts {
			t.Punts[i] = w.punts[i].Load()
			t.Drops[i] = w.drops[i].Load()
		}
		if v&1 == 0 && w.version.Load() == v {
			return t
		}
	}
}

// Sum reads several workers and adds them up.
func Sum(workers ...*Worker) Tally {
	var sum Tally
	for _, w := range workers {
		t := w.Read()
		sum.Add(&t)
	}
	return sum
}
