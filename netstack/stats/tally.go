package stats

import "weir/netstack/frame"

// Tally counts what became of frames, as plain numbers: what a worker adds up
// before it publishes, and what a reader gets. Every frame counted in RX is in
// exactly one of Forwarded, HandedOver, Punts and Drops.
type Tally struct {
	RX         uint64 // frames received: from ports, and from workers that handed them over
	Forwarded  uint64 // frames that a port's TX ring took
	HandedOver uint64 // frames given to the worker that owns the TX queue, which counts them as RX again
	Batches    uint64 // rounds that received at least one frame
	Polls      uint64 // times the worker slept until a frame came
	// Punts and Drops count frames by frame.Reason.
	Punts, Drops [frame.NumReasons]uint64
}

// Punted is the number of frames that the kernel was given, for any reason.
func (t *Tally) Punted() uint64 { return total(&t.Punts) }

// Dropped is the number of frames that were lost, for any reason.
func (t *Tally) Dropped() uint64 { return total(&t.Drops) }

func total(a *[frame.NumReasons]uint64) (n uint64) {
	for _, v := range a {
		n += v
	}
	return n
}

// Add adds another tally to t.
func (t *Tally) Add(o *Tally) {
	t.RX += o.RX
	t.Forwarded += o.Forwarded
	t.HandedOver += o.HandedOver
	t.Batches += o.Batches
	t.Polls += o.Polls
	for i := range t.Punts {
		t.Punts[i] += o.Punts[i]
		t.Drops[i] += o.Drops[i]
	}
}

// Sub takes an earlier reading of the same counters from t: what happened since.
func (t *Tally) Sub(o *Tally) {
	t.RX -= o.RX
	t.Forwarded -= o.Forwarded
	t.HandedOver -= o.HandedOver
	t.Batches -= o.Batches
	t.Polls -= o.Polls
	for i := range t.Punts {
		t.Punts[i] -= o.Punts[i]
		t.Drops[i] -= o.Drops[i]
	}
}

// ByName is the counts of Punts or Drops that are not zero, by the reason's name.
func ByName(counts *[frame.NumReasons]uint64) map[string]uint64 {
	m := make(map[string]uint64)
	for r, n := range counts {
		if n != 0 {
			m[frame.Reason(r).String()] += n
		}
	}
	return m
}
