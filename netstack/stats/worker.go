package stats

import (
	"math/bits"
	"sync/atomic"

	"weir/netstack/frame"
)

// padding keeps what follows a Worker in memory, and what precedes it, off its
// cache lines: 64 bytes on the ARM cores, fetched in pairs on amd64.
type padding [128]byte

// dirtyWords is how many machine words hold one bit a counter.
const dirtyWords = (int(numCounters) + bits.UintSize - 1) / bits.UintSize

// Worker holds one worker's counters. The zero value is ready; it must not be
// copied. The worker's goroutine alone calls AddX and Publish; Read is for
// everybody.
//
// The worker adds to plain numbers and marks them; Publish stores the marked
// ones, a handful a batch, atomically. So the loop pays no atomic operation per
// frame, and the 64-bit stores, which 32-bit ARM makes with an exclusive pair,
// are few.
type Worker struct {
	_ padding

	// The worker's own half.
	total [numCounters]uint64
	dirty [dirtyWords]uint
	seq   uint32

	_ padding

	// The published half: written by the worker, read by others. version is odd
	// while a Publish is under way.
	version atomic.Uint32
	public  [numCounters]atomic.Uint64

	_ padding
}

func (w *Worker) add(i counter, n uint64) {
	w.total[i] += n
	w.dirty[uint(i)/bits.UintSize] |= 1 << (uint(i) % bits.UintSize)
}

// AddReceived counts a batch of frames that came in, before forward shortens
// them.
func (w *Worker) AddReceived(b *frame.Batch) {
	if b.N == 0 {
		return
	}
	n := uint64(0)
	for i := range b.F[:b.N] {
		n += uint64(len(b.F[i].Data))
	}
	w.add(rx, uint64(b.N))
	w.add(rxBytes, n)
	w.add(batches, 1)
}

// AddForwarded counts frames that a TX ring took, and their bytes.
func (w *Worker) AddForwarded(frames, bytes int) {
	w.add(forwarded, uint64(frames))
	w.add(forwardedBytes, uint64(bytes))
}

// AddPunt counts one frame that the kernel was given.
func (w *Worker) AddPunt(r frame.Reason) { w.addReason(punts, r) }

// AddDrop counts one frame that was lost.
func (w *Worker) AddDrop(r frame.Reason) { w.addReason(drops, r) }

func (w *Worker) addReason(base counter, r frame.Reason) {
	if int(r) >= frame.NumReasons {
		r = frame.ReasonNone
	}
	w.add(base+counter(r), 1)
}

// AddHandedOver counts frames that another worker was given.
func (w *Worker) AddHandedOver(n int) { w.add(handedOver, uint64(n)) }

// AddPoll counts one sleep.
func (w *Worker) AddPoll() { w.add(polls, 1) }

// AddKick counts one call that made the kernel transmit.
func (w *Worker) AddKick() { w.add(kicks, 1) }

// Publish makes everything added so far visible to Read. Once a batch, and
// before each sleep.
func (w *Worker) Publish() {
	if w.dirty == [dirtyWords]uint{} {
		return
	}
	w.version.Store(w.seq + 1)
	for k, word := range w.dirty {
		for ; word != 0; word &= word - 1 {
			i := k*bits.UintSize + bits.TrailingZeros(word)
			w.public[i].Store(w.total[i])
		}
	}
	w.dirty = [dirtyWords]uint{}
	w.seq += 2
	w.version.Store(w.seq)
}

// Read is what the worker last published, all of one Publish. It does not
// disturb the worker; it retries while a Publish, which takes well under a
// microsecond, is under way.
func (w *Worker) Read() Counts {
	var c Counts
	for {
		v := w.version.Load()
		for i := range w.public {
			*c.at(counter(i)) = w.public[i].Load()
		}
		if v&1 == 0 && w.version.Load() == v {
			return c
		}
	}
}

// Sum reads several workers and adds them up.
func Sum(workers ...*Worker) Counts {
	var c Counts
	for _, w := range workers {
		o := w.Read()
		c.Add(&o)
	}
	return c
}
