package stats

import "weir/netstack/frame"

// Counts is what one worker, or several together, did since the start. Every
// frame that was received is in exactly one of Forwarded, Punts, Drops and
// HandedOver once its batch is published.
type Counts struct {
	RX             uint64 // frames received from ports and from other workers
	RXBytes        uint64 // their bytes, without FCS
	Forwarded      uint64 // frames given to a port's TX ring
	ForwardedBytes uint64 // their bytes, without padding and FCS
	HandedOver     uint64 // frames given to another worker
	Batches        uint64 // rounds that received at least one frame
	Polls          uint64 // times the worker slept until a frame came
	Kicks          uint64 // calls that made the kernel transmit
	// Punts and Drops by frame.Reason.
	Punts, Drops [frame.NumReasons]uint64
}

// Punted is the sum over all reasons.
func (c *Counts) Punted() uint64 { return sum(&c.Punts) }

// Dropped is the sum over all reasons.
func (c *Counts) Dropped() uint64 { return sum(&c.Drops) }

func sum(a *[frame.NumReasons]uint64) (n uint64) {
	for _, v := range a {
		n += v
	}
	return n
}

// Add adds another worker's counts.
func (c *Counts) Add(o *Counts) {
	for i := range numCounters {
		*c.at(i) += *o.at(i)
	}
}

// Sub takes an earlier reading of the same counters away: what happened since.
func (c *Counts) Sub(o *Counts) {
	for i := range numCounters {
		*c.at(i) -= *o.at(i)
	}
}

// counter numbers the counters of a Counts. Punts and Drops follow the scalars,
// one counter a reason.
type counter int

const (
	rx counter = iota
	rxBytes
	forwarded
	forwardedBytes
	handedOver
	batches
	polls
	kicks
	numScalars

	punts       = numScalars
	drops       = punts + counter(frame.NumReasons)
	numCounters = drops + counter(frame.NumReasons)
)

// at is the field that holds counter i.
func (c *Counts) at(i counter) *uint64 {
	switch i {
	case rx:
		return &c.RX
	case rxBytes:
		return &c.RXBytes
	case forwarded:
		return &c.Forwarded
	case forwardedBytes:
		return &c.ForwardedBytes
	case handedOver:
		return &c.HandedOver
	case batches:
		return &c.Batches
	case polls:
		return &c.Polls
	case kicks:
		return &c.Kicks
	}
	if i < drops {
		return &c.Punts[i-punts]
	}
	return &c.Drops[i-drops]
}
