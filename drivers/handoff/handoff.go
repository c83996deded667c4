package handoff

import (
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"weir/drivers/ring"
	"weir/netstack/frame"
)

// Frames is a worker's buffer memory.
type Frames interface {
	// Get takes a free frame and tells where a packet in it begins; Put gives it
	// back.
	Get() (addr uint64, ok bool)
	Put(addr uint64)
	// Room is the writable part of the frame from addr on.
	Room(addr uint64) []byte
}

// entry is a full frame under way.
type entry struct {
	addr    uint64
	n       uint32
	nextHop uint32
	in, out frame.PortID
}

// link is what both ends share.
type link struct {
	empty  *ring.SPSC[uint64] // receiver → sender: frames to fill
	full   *ring.SPSC[entry]  // sender → receiver
	asleep atomic.Uint32      // 1: the receiver found nothing and may be in poll
	event  int                // eventfd that ends its poll
	lent   Frames             // the receiver's memory, which the sender writes to
}

// Sender is the sending worker's end.
type Sender struct {
	*link
	from  Frames
	addrs [frame.BatchSize]uint64
	out   [frame.BatchSize]entry
}

// Receiver is the receiving worker's end.
type Receiver struct {
	*link
	quota int  // frames lent at most
	lentN int  // frames lent now: in either ring
	armed bool // asleep was set once: the eventfd may have been written
	addrs [frame.BatchSize]uint64
	got   [frame.BatchSize]entry
}

// New links a worker with frames from to one with frames to; at most quota of
// its frames, a power of two, are under way.
func New(from, to Frames, quota int) (*Sender, *Receiver, error) {
	l := &link{lent: to, event: -1}
	var err error
	if l.empty, err = ring.NewSPSC[uint64](quota); err != nil {
		return nil, nil, fmt.Errorf("hand-over ring: %w", err)
	}
	if l.full, err = ring.NewSPSC[entry](quota); err != nil {
		return nil, nil, fmt.Errorf("hand-over ring: %w", err)
	}
	if l.event, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, nil, fmt.Errorf("hand-over ring: %w", os.NewSyscallError("eventfd2", err))
	}
	return &Sender{link: l, from: from}, &Receiver{link: l, quota: quota}, nil
}

// Send copies the frames into the receiver's and gives the originals back.
func (s *Sender) Send(b *frame.Batch, idx []uint8) int {
	n := s.empty.Pop(s.addrs[:min(len(idx), len(s.addrs))])
	for i, at := range idx[:n] {
		f := &b.F[at]
		room := s.lent.Room(s.addrs[i])
		// A frame that does not fit cannot be: both workers' frames are of one size.
		m := copy(room, f.Data)
		s.out[i] = entry{addr: s.addrs[i], n: uint32(m), nextHop: f.NextHop, in: f.In, out: f.Out}
		s.from.Put(f.Addr)
		f.Data = nil
	}
	s.full.Push(s.out[:n]) // it has room for every frame that was lent
	return n
}

// Flush wakes the receiver if it may be asleep.
func (s *Sender) Flush() {
	if s.asleep.Load() != 0 && s.asleep.Swap(0) != 0 {
		_, _ = unix.Write(s.event, wakeUp[:]) // fails only when it is ready anyway
	}
}

var wakeUp = [8]byte{0: 1, 7: 1} // not zero in either byte order, far from overflow

// Receive appends the frames that were handed over, decided and rewritten.
func (r *Receiver) Receive(b *frame.Batch) int {
	n := r.take(b)
	if n > 0 || r.asleep.Load() != 0 {
		return n
	}
	// Not yet asleep, or woken: make the eventfd unreadable, ask to be woken, and
	// look once more for what came before the sender could see that.
	if r.armed {
		var buf [8]byte
		_, _ = unix.Read(r.event, buf[:])
	}
	r.armed = true
	r.asleep.Store(1)
	return r.take(b)
}

func (r *Receiver) take(b *frame.Batch) int {
	n := r.full.Pop(r.got[:len(b.F)-b.N])
	for _, e := range r.got[:n] {
		b.F[b.N] = frame.Frame{Data: r.lent.Room(e.addr)[:e.n], Addr: e.addr, NextHop: e.nextHop,
			In: e.in, Out: e.out, Verdict: frame.VerdictForward}
		b.N++
	}
	r.lentN -= n
	return n
}

// Release takes back frames that could not be sent.
func (r *Receiver) Release(b *frame.Batch, idx []uint8) {
	for _, i := range idx {
		r.lent.Put(b.F[i].Addr)
	}
}

// Service lends empty frames to the sender.
func (r *Receiver) Service() {
	n := 0
	for n < len(r.addrs) && r.lentN+n < r.quota {
		a, ok := r.lent.Get()
		if !ok {
			break
		}
		r.addrs[n] = a
		n++
	}
	r.lentN += r.empty.Push(r.addrs[:n]) // it has room: quota
}

// FD is readable when frames may wait.
func (r *Receiver) FD() int { return r.event }

// Close frees the eventfd, when neither worker runs any more.
func (r *Receiver) Close() error { return unix.Close(r.event) }
