package xsk

import (
	"golang.org/x/sys/unix"

	"weir/drivers/ring"
	"weir/drivers/umem"
	"weir/netstack/frame"
)

// minFrame is an Ethernet header: nothing shorter is a frame.
const minFrame = 14

// Send queues the frames b.F[i], for i in idx and in that order, and returns how
// many it took: the first n of idx. The others stay the batch's: the ring is
// full, or the socket's share of the frames is in flight. A frame that the
// kernel would reject (shorter than an Ethernet header, or reaching beyond its
// frame's memory) is taken too, recycled, and counted in TXInvalid.
func (s *Socket) Send(b *frame.Batch, idx []uint8) int {
	if s.fd < 0 {
		return 0
	}
	room := min(s.tx.Cap(), s.u.Quota()) - s.txHeld
	if room < len(idx) {
		s.reap()
		room = min(s.tx.Cap(), s.u.Quota()) - s.txHeld
	}
	n := s.tx.Free(min(room, len(idx)))
	if n <= 0 {
		return 0
	}
	size, frames := uint64(s.u.Size()), uint64(s.u.Frames())
	sent, bytes := 0, 0
	for _, i := range idx[:n] {
		f := &b.F[i]
		l := len(f.Data)
		if off := f.Addr & (size - 1); l < minFrame || off+uint64(l) > size || f.Addr >= size*frames {
			s.counters.txInvalid.add(1)
			s.u.Put(f.Addr)
			continue
		}
		s.u.Move(f.Addr, umem.OwnerWorker, umem.OwnerTX)
		s.tx.Set(sent, ring.Desc{Addr: f.Addr, Len: uint32(l)})
		sent++
		bytes += l
	}
	s.tx.Publish(sent)
	s.txHeld += sent
	s.counters.txFrames.add(sent)
	s.counters.txBytes.add(bytes)
	return n
}

// Flush makes the kernel transmit what Send queued. It does not block: what the
// kernel does not take now is offered again by a later Flush or Service.
func (s *Socket) Flush() {
	if s.txHeld > 0 && s.tx.Pending() > 0 {
		s.kick()
	}
}

// maxSkip bounds how many times in a row kick does nothing on a ring that does
// not move: a wasted call then costs a 64th of a call a round.
const maxSkip = 63

// kick calls the kernel until the TX ring is empty or a call has consumed
// nothing: progress, and not the error, tells whether to go on, since EAGAIN is
// said both after 32 frames and when no more can be sent, and success also where
// nothing ever will (a queue without a TX queue of its own). A ring that does not
// move is tried at doubling distances, until something of it has moved.
func (s *Socket) kick() {
	if !s.tx.NeedWakeup() {
		return // the driver is looking at the ring by itself
	}
	if s.skip > 0 {
		s.skip--
		return
	}
	left := s.tx.Pending()
	for left > 0 {
		e := s.k.kick(s.fd)
		s.counters.kicks.add(1)
		if e != 0 {
			s.counters.failed(e)
		}
		now := s.tx.Pending()
		if now == left {
			s.skip = s.idle
			s.idle = min(2*s.idle+1, maxSkip)
			return
		}
		left = now
		s.idle = 0
	}
}

// reap takes completed frames from the completion ring and frees them.
func (s *Socket) reap() {
	for {
		n := s.comp.Avail(len(s.scratch))
		if n == 0 {
			return
		}
		for i := range n {
			a := s.comp.Get(i)
			s.u.Move(a, umem.OwnerTX, umem.OwnerWorker)
			s.u.Put(a)
		}
		s.comp.Release(n)
		s.txHeld -= n
		s.counters.completed.add(n)
		s.idle, s.skip = 0, 0 // what blocked the ring may be gone
	}
}

// failed counts a kick or poke that the kernel did not carry out.
func (c *counters) failed(e unix.Errno) {
	switch e {
	case unix.EAGAIN:
		c.again.add(1) // sent what it may in one call, or the send buffer or device is full
	case unix.EBUSY:
		c.txDropped.add(1) // copy mode: the device refused one packet, which is consumed (xsk_generic_xmit)
	default:
		c.errors.add(1)
		c.lastErrno.Store(uint32(e))
	}
}
