package xsk

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"weir/drivers/ring"
	"weir/drivers/umem"
	"weir/netstack/frame"
)

// A queue is free a few milliseconds after its last socket was closed: the
// kernel gives it up in deferred work, and not before the packets that it still
// sends are gone. A second is far more, and a restart that waits so long for a
// queue that is really taken still says so soon.
const (
	bindPause = 10 * time.Millisecond
	bindTries = 100
)

// Open makes a socket on one queue of an interface and binds it. The first
// socket of u registers its memory, later ones share it. Its fill ring is empty:
// open all sockets of the worker, then call Service on each, then let the XDP
// program redirect to them. Whatever fails, nothing is left open or mapped.
func Open(u *umem.UMEM, ifindex, queue int, o Options) (*Socket, error) {
	return open(linux{}, u, ifindex, queue, o)
}

func open(k kernel, u *umem.UMEM, ifindex, queue int, o Options) (_ *Socket, err error) {
	name := o.Label
	if name == "" {
		name = fmt.Sprintf("interface %d", ifindex)
	}
	if ifindex <= 0 || queue < 0 || int64(queue) > 1<<32-1 || int64(ifindex) > 1<<31-1 {
		return nil, fmt.Errorf("af_xdp socket on %s queue %d: no such interface index or queue", name, queue)
	}
	if u.Mem() == nil {
		return nil, fmt.Errorf("af_xdp socket on %s queue %d: its frame memory is closed: make a new one", name, queue)
	}
	if o, err = o.withDefaults(u.Size()); err != nil {
		return nil, fmt.Errorf("af_xdp socket on %s queue %d: %w", name, queue, err)
	}
	sharedFD, shares := u.SharedFD()
	s := &Socket{k: k, u: u, fd: -1, port: o.Port, name: name, queue: queue, shared: shares}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.releaseKernel())
		}
	}()
	if s.fd, err = k.socket(); err != nil {
		s.fd = -1
		return nil, s.explain(stepSocket, err)
	}
	if !shares {
		if err := k.register(s.fd, u.Mem(), u.Size(), u.Headroom()); err != nil {
			return nil, s.explain(stepRegister, err)
		}
	}
	if err := s.makeRings(o); err != nil {
		return nil, err
	}
	if err := k.sendBuffer(s.fd, o.SendBuffer); err != nil {
		return nil, s.explain(stepSend, err)
	}
	// Fewer calls a flush where the kernel can (its default is 32 frames); where it
	// cannot, Flush calls more often.
	_ = k.txBudget(s.fd, min(4*frame.BatchSize, o.RingSize))

	addr := unix.SockaddrXDP{Ifindex: uint32(ifindex), QueueID: uint32(queue)}
	if shares {
		addr.Flags, addr.SharedUmemFD = unix.XDP_SHARED_UMEM, uint32(sharedFD)
	} else {
		addr.Flags = bindFlags(o)
	}
	if err := s.bind(&addr); err != nil {
		return nil, s.explain(stepBind, err)
	}
	if s.zeroCopy, err = k.zeroCopy(s.fd); err != nil {
		return nil, s.explain(stepMode, err)
	}
	u.Attach(s)
	return s, nil
}

func bindFlags(o Options) (flags uint16) {
	switch o.Mode {
	case ModeCopy:
		flags = unix.XDP_COPY
	case ModeZeroCopy:
		flags = unix.XDP_ZEROCOPY
	}
	if !o.NoNeedWakeup {
		flags |= unix.XDP_USE_NEED_WAKEUP
	}
	return flags
}

// bind waits out EBUSY, see bindTries. A refused bind leaves the socket as it
// was, so it can be tried again.
func (s *Socket) bind(addr *unix.SockaddrXDP) (err error) {
	for range bindTries {
		if err = s.k.bind(s.fd, addr); !errors.Is(err, unix.EBUSY) {
			return err
		}
		s.k.pause()
	}
	return err
}

// makeRings sizes and maps the four rings. It has to happen before bind: a
// bound socket's rings can no longer be mapped.
func (s *Socket) makeRings(o Options) error {
	for _, r := range []struct{ option, entries int }{
		{unix.XDP_UMEM_FILL_RING, o.FillSize},
		{unix.XDP_UMEM_COMPLETION_RING, o.RingSize},
		{unix.XDP_RX_RING, o.RingSize},
		{unix.XDP_TX_RING, o.RingSize},
	} {
		if err := s.k.ringSize(s.fd, r.option, r.entries); err != nil {
			return s.explain(stepRing, err)
		}
	}
	off, err := s.k.offsets(s.fd)
	if err != nil {
		return s.explain(stepMap, err)
	}
	fill, err := mapRing[uint64](s, unix.XDP_UMEM_PGOFF_FILL_RING, off.Fr, o.FillSize)
	if err != nil {
		return err
	}
	comp, err := mapRing[uint64](s, unix.XDP_UMEM_PGOFF_COMPLETION_RING, off.Cr, o.RingSize)
	if err != nil {
		return err
	}
	rx, err := mapRing[ring.Desc](s, unix.XDP_PGOFF_RX_RING, off.Rx, o.RingSize)
	if err != nil {
		return err
	}
	tx, err := mapRing[ring.Desc](s, unix.XDP_PGOFF_TX_RING, off.Tx, o.RingSize)
	if err != nil {
		return err
	}
	return s.useRings(fill, comp, rx, tx)
}

func mapRing[T any](s *Socket, at int64, off unix.XDPRingOffset, entries int) (ring.Shared[T], error) {
	mem, err := s.k.mmap(s.fd, at, ringBytes[T](off, entries))
	if err != nil {
		return ring.Shared[T]{}, s.explain(stepMap, err)
	}
	s.maps = append(s.maps, mem)
	return shared[T](mem, off, entries), nil
}

func (s *Socket) useRings(fill, comp ring.Shared[uint64], rx, tx ring.Shared[ring.Desc]) (err error) {
	if s.fill, err = ring.NewProducer(fill); err != nil {
		return err
	}
	if s.comp, err = ring.NewConsumer(comp); err != nil {
		return err
	}
	if s.rx, err = ring.NewConsumer(rx); err != nil {
		return err
	}
	s.tx, err = ring.NewProducer(tx)
	return err
}
