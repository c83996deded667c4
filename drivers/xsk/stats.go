package xsk

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// counter has one writer, the worker, and any number of readers.
type counter struct{ v atomic.Uint64 }

func (c *counter) add(n int) {
	if n != 0 {
		c.v.Store(c.v.Load() + uint64(n))
	}
}

type counters struct {
	rxFrames, rxBytes, txFrames, txBytes, completed counter
	kicks, again, errors, wakeups                   counter
	txDropped, txInvalid, starved                   counter
	lastErrno                                       atomic.Uint32
}

// Stats are totals since Open. Frames with Weir's own reasons to drop are counted
// by the worker, not here.
type Stats struct {
	RXFrames, RXBytes uint64 // received
	TXFrames, TXBytes uint64 // queued by Send
	Completed         uint64 // sent, or given up by the kernel, and recycled
	TXDropped         uint64 // refused by the device in copy mode, and recycled
	TXInvalid         uint64 // not a frame; recycled by Send
	Kicks             uint64 // calls to transmit
	Again             uint64 // of these, with EAGAIN: more to send than one call may
	Errors            uint64 // calls that failed otherwise
	LastError         error  // the last such failure, nil when none: ENETDOWN, ENXIO…
	Wakeups           uint64 // calls because the fill ring asked
	Starved           uint64 // rounds without a single frame to receive into

	// The kernel's own, XDP_STATISTICS of include/uapi/linux/if_xdp.h.
	RXDropped     uint64 // too long for a frame, or no frame and no room
	RXRingFull    uint64 // no room on the RX ring: the worker was too slow
	RXFillEmpty   uint64 // no frame on the fill ring: the worker was too slow, or has too few frames
	RXInvalid     uint64 // bad addresses on the fill ring: a bug
	TXInvalidDesc uint64 // bad descriptors on the TX ring: a bug, and lost frames
	TXEmpty       uint64 // the kernel looked for more to send than there was
}

// Stats reads the counters. Any goroutine may call it, at any time; it makes one
// system call. On a closed socket the kernel's part is zero.
func (s *Socket) Stats() (Stats, error) {
	c := &s.counters
	st := Stats{
		RXFrames: c.rxFrames.v.Load(), RXBytes: c.rxBytes.v.Load(),
		TXFrames: c.txFrames.v.Load(), TXBytes: c.txBytes.v.Load(),
		Completed: c.completed.v.Load(), TXDropped: c.txDropped.v.Load(), TXInvalid: c.txInvalid.v.Load(),
		Kicks: c.kicks.v.Load(), Again: c.again.v.Load(), Errors: c.errors.v.Load(),
		Wakeups: c.wakeups.v.Load(), Starved: c.starved.v.Load(),
	}
	if e := c.lastErrno.Load(); e != 0 {
		st.LastError = unix.Errno(e)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fd < 0 {
		return st, nil
	}
	k, err := s.k.statistics(s.fd)
	if err != nil {
		return st, fmt.Errorf("af_xdp socket on %s queue %d: statistics: %w", s.name, s.queue, err)
	}
	st.RXDropped, st.RXRingFull, st.RXFillEmpty = k.Rx_dropped, k.Rx_ring_full, k.Rx_fill_ring_empty_descs
	st.RXInvalid, st.TXInvalidDesc, st.TXEmpty = k.Rx_invalid_descs, k.Tx_invalid_descs, k.Tx_ring_empty_descs
	return st, nil
}
