package xsk

import (
	"weir/drivers/umem"
	"weir/netstack/frame"
)

// Receive appends frames to b until it is full or none is waiting, and returns
// how many. It sets Data, Addr and In, and zeroes the rest. Data's capacity ends
// with the frame.
func (s *Socket) Receive(b *frame.Batch) int {
	if s.fd < 0 {
		return 0
	}
	n := s.rx.Avail(len(b.F) - b.N)
	if n <= 0 {
		return 0
	}
	to := b.F[b.N:][:n]
	bytes := 0
	for i := range to {
		d := s.rx.Get(i)
		s.u.Move(d.Addr, umem.OwnerRX, umem.OwnerWorker)
		to[i] = frame.Frame{Data: s.u.Packet(d.Addr, int(d.Len)), Addr: d.Addr, In: s.port}
		bytes += int(d.Len)
	}
	s.rx.Release(n)
	s.rxHeld -= n
	b.N += n
	s.counters.rxFrames.add(n)
	s.counters.rxBytes.add(bytes)
	return n
}

// Service takes back completed transmissions, gives the kernel frames to receive
// into, up to the socket's share, and wakes it where it asked for that. Once a
// round.
func (s *Socket) Service() {
	if s.fd < 0 {
		return
	}
	s.reap()
	s.refill()
	if s.rxHeld > 0 && s.fill.NeedWakeup() {
		s.counters.wakeups.add(1)
		if e := s.k.poke(s.fd); e != 0 {
			s.counters.failed(e)
		}
	}
	if s.txHeld > 0 && s.tx.Pending() > 0 {
		s.kick()
	}
}

// refill posts free frames. What the kernel may hold for reception is bounded by
// the ring and by the socket's share of all frames, so that a port that receives
// nothing does not keep them from the others.
func (s *Socket) refill() {
	for {
		n := min(s.fill.Cap(), s.u.Quota()) - s.rxHeld
		n = s.fill.Free(min(n, len(s.scratch)))
		if n <= 0 {
			return
		}
		n = s.u.GetN(s.scratch[:n])
		if n == 0 {
			if s.rxHeld == 0 {
				s.counters.starved.add(1)
			}
			return
		}
		for i, a := range s.scratch[:n] {
			s.u.Move(a, umem.OwnerWorker, umem.OwnerRX)
			s.fill.Set(i, a)
		}
		s.fill.Publish(n)
		s.rxHeld += n
	}
}

// Release takes back frames that are not sent: b.F[i] for i in idx. They are
// free again for all sockets of the worker.
func (s *Socket) Release(b *frame.Batch, idx []uint8) {
	for _, i := range idx {
		s.u.Put(b.F[i].Addr)
	}
}
