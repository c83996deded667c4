package xsk

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"weir/drivers/ring"
	"weir/drivers/umem"
	"weir/netstack/frame"
)

// fake is a kernel whose rings are Go memory. It does what net/xdp does, as far
// as a socket can tell, and notes every breach of the rules on its side.
type fake struct {
	t     testing.TB
	socks []*fakeSock // by descriptor
	maps  int         // live mappings
	mem   []byte      // the registered UMEM
	chunk uint64
	head  uint64 // XDP_PACKET_HEADROOM and the UMEM's own
	busy  int    // this many binds say EBUSY
	zc    bool

	pauses int
	addrs  []unix.SockaddrXDP // of every bind that succeeded
}

// fakeSock is the kernel's side of one socket.
type fakeSock struct {
	open, bound bool
	size        map[int]int
	fill        ring.Consumer[uint64]
	comp        ring.Producer[uint64]
	rx          ring.Producer[ring.Desc]
	tx          ring.Consumer[ring.Desc]
	fillFlags   *uint32
	txFlags     *uint32
	stats       unix.XDPStatistics

	spare  *ring.SPSC[uint64] // taken from the fill ring and not used: the pool's free list
	flying *ring.SPSC[uint64] // taken from the TX ring, not completed
	sent   int                // packets that left

	// What a test makes it do.
	stuck        unix.Errno // kick consumes nothing and says this, if stuckSet
	stuckSet     bool
	dropNext     int // so many packets are refused by the device: EBUSY, consumed
	holdFlying   bool
	kicks, pokes int
}

func newFake(t testing.TB) *fake { return &fake{t: t, chunk: 2048, head: 256} }

const (
	offProducer, offConsumer, offFlags, offDesc = 0, 64, 128, 192
	fakeBudget                                  = 32 // TX_BATCH_SIZE
)

func (k *fake) socket() (int, error) {
	s := &fakeSock{open: true, size: map[int]int{}}
	s.spare, _ = ring.NewSPSC[uint64](1 << 12)
	s.flying, _ = ring.NewSPSC[uint64](1 << 12)
	k.socks = append(k.socks, s)
	return len(k.socks) - 1, nil
}

func (k *fake) register(fd int, mem []byte, size, headroom int) error {
	k.mem, k.chunk, k.head = mem, uint64(size), uint64(umem.PacketHeadroom+headroom)
	return nil
}

func (k *fake) ringSize(fd, option, entries int) error {
	if ring.CheckSize(entries) != nil {
		return unix.EINVAL
	}
	k.socks[fd].size[option] = entries
	return nil
}

func (k *fake) offsets(int) (o unix.XDPMmapOffsets, err error) {
	r := unix.XDPRingOffset{Producer: offProducer, Consumer: offConsumer, Flags: offFlags, Desc: offDesc}
	return unix.XDPMmapOffsets{Rx: r, Tx: r, Fr: r, Cr: r}, nil
}

func (k *fake) mmap(fd int, offset int64, length int) ([]byte, error) {
	s := k.socks[fd]
	if s.bound {
		return nil, unix.EBUSY
	}
	mem := make([]byte, length)
	k.maps++
	r := unix.XDPRingOffset{Producer: offProducer, Consumer: offConsumer, Flags: offFlags, Desc: offDesc}
	var err error
	want := 0
	switch offset {
	case unix.XDP_UMEM_PGOFF_FILL_RING:
		n := s.size[unix.XDP_UMEM_FILL_RING]
		sh := shared[uint64](mem, r, n)
		want, s.fillFlags = offDesc+8*n, sh.Flags
		s.fill, err = ring.NewConsumer(sh)
	case unix.XDP_UMEM_PGOFF_COMPLETION_RING:
		n := s.size[unix.XDP_UMEM_COMPLETION_RING]
		want = offDesc + 8*n
		s.comp, err = ring.NewProducer(shared[uint64](mem, r, n))
	case unix.XDP_PGOFF_RX_RING:
		n := s.size[unix.XDP_RX_RING]
		want = offDesc + 16*n
		s.rx, err = ring.NewProducer(shared[ring.Desc](mem, r, n))
	case unix.XDP_PGOFF_TX_RING:
		n := s.size[unix.XDP_TX_RING]
		sh := shared[ring.Desc](mem, r, n)
		want, s.txFlags = offDesc+16*n, sh.Flags
		*sh.Flags = unix.XDP_RING_NEED_WAKEUP // as XDP_TX_RING does
		s.tx, err = ring.NewConsumer(sh)
	default:
		return nil, unix.EINVAL
	}
	if length != want {
		k.t.Errorf("ring at %#x: %d bytes are mapped, want %d", offset, length, want)
	}
	return mem, err
}

func (k *fake) munmap([]byte) error                           { k.maps--; return nil }
func (k *fake) sendBuffer(int, int) error                     { return nil }
func (k *fake) txBudget(int, int) error                       { return unix.ENOPROTOOPT }
func (k *fake) zeroCopy(int) (bool, error)                    { return k.zc, nil }
func (k *fake) statistics(fd int) (unix.XDPStatistics, error) { return k.socks[fd].stats, nil }
func (k *fake) pause()                                        { k.pauses++ }
func (k *fake) close(fd int) error                            { k.socks[fd].open = false; return nil }

func (k *fake) bind(fd int, a *unix.SockaddrXDP) error {
	if k.busy > 0 {
		k.busy--
		return unix.EBUSY
	}
	if a.Flags&unix.XDP_SHARED_UMEM != 0 {
		if a.Flags != unix.XDP_SHARED_UMEM {
			return unix.EINVAL // "Cannot specify flags for shared sockets"
		}
		if o := k.socks[a.SharedUmemFD]; !o.open || !o.bound {
			return unix.EBADF
		}
	} else if k.mem == nil {
		return unix.EINVAL
	}
	k.socks[fd].bound = true
	k.addrs = append(k.addrs, *a)
	return nil
}

// live is how many descriptors are open.
func (k *fake) live() (n int) {
	for _, s := range k.socks {
		if s.open {
			n++
		}
	}
	return n
}

// kick is xsk_generic_xmit.
func (k *fake) kick(fd int) unix.Errno {
	s := k.socks[fd]
	s.kicks++
	if s.stuckSet {
		return s.stuck
	}
	for sent := 0; ; sent++ {
		if s.tx.Avail(1) == 0 {
			s.stats.Tx_ring_empty_descs++
			return 0
		}
		if sent == fakeBudget {
			return unix.EAGAIN
		}
		// Room in the completion ring is reserved before sending.
		if s.comp.Pending()+s.flying.Len() >= s.comp.Cap() {
			return 0
		}
		d := s.tx.Get(0)
		if off := d.Addr & (k.chunk - 1); d.Len == 0 || off+uint64(d.Len) > k.chunk || d.Addr >= uint64(len(k.mem)) {
			k.t.Errorf("invalid descriptor %+v on the TX ring", d)
			s.stats.Tx_invalid_descs++
			s.tx.Release(1)
			continue
		}
		s.flying.Push([]uint64{d.Addr})
		s.tx.Release(1)
		if s.dropNext > 0 {
			s.dropNext--
			return unix.EBUSY
		}
		s.sent++
	}
}

func (k *fake) poke(fd int) unix.Errno { k.socks[fd].pokes++; return 0 }

// deliver is xsk_generic_rcv: it takes a frame from the fill ring, writes a
// packet of n bytes into it, and hands it over on the RX ring.
func (s *fakeSock) deliver(k *fake, n int, mark byte) bool {
	var a [1]uint64
	if s.spare.Pop(a[:]) == 0 {
		if s.fill.Avail(1) == 0 {
			s.stats.Rx_fill_ring_empty_descs++
			return false
		}
		a[0] = s.fill.Get(0)
		s.fill.Release(1)
	}
	if a[0]&(k.chunk-1) != 0 || a[0] >= uint64(len(k.mem)) {
		k.t.Fatalf("address %#x on the fill ring is not a frame's base", a[0])
	}
	if s.rx.Free(1) == 0 {
		s.stats.Rx_ring_full++
		s.spare.Push(a[:])
		return false
	}
	at := a[0] + k.head
	p := k.mem[at : at+uint64(n)]
	p[0], p[n-1] = mark, mark
	s.rx.Set(0, ring.Desc{Addr: at, Len: uint32(n)})
	s.rx.Publish(1)
	return true
}

// complete puts at most n of the packets in flight on the completion ring.
func (s *fakeSock) complete(n int) {
	var a [1]uint64
	for i := 0; i < n && s.flying.Len() > 0; i++ {
		if s.comp.Free(1) == 0 {
			panic("the completion ring overflows")
		}
		s.flying.Pop(a[:])
		s.comp.Set(0, a[0])
		s.comp.Publish(1)
	}
}

// census names every frame's place and fails unless each is in exactly one. hands
// are addresses in the worker's own.
func (r *fakeRig) census(hands []uint64) {
	k, u := r.k, r.u
	k.t.Helper()
	where := map[uint64]string{}
	put := func(a uint64, place string) {
		b := a &^ (k.chunk - 1)
		if old, twice := where[b]; twice {
			k.t.Fatalf("frame %#x is in two places: %s and %s", b, old, place)
		}
		where[b] = place
	}
	free := make([]uint64, u.Free())
	u.GetN(free)
	for _, a := range free {
		put(a, "free list")
	}
	u.PutN(free)
	for _, a := range hands {
		put(a, "worker")
	}
	for fd, s := range k.socks {
		for i := range s.fill.Waiting() {
			put(s.fill.Get(i), fmt.Sprintf("fill ring %d", fd))
		}
		for i := range s.tx.Waiting() {
			put(s.tx.Get(i).Addr, fmt.Sprintf("TX ring %d", fd))
		}
		for q, name := range map[*ring.SPSC[uint64]]string{s.spare: "pool", s.flying: "device"} {
			all := make([]uint64, q.Len())
			q.Pop(all)
			for _, a := range all {
				put(a, fmt.Sprintf("%s %d", name, fd))
			}
			q.Push(all)
		}
	}
	// RX and completion rings: seen from our end.
	for _, h := range r.s {
		for i := range h.rx.Waiting() {
			put(h.rx.Get(i).Addr, "RX ring")
		}
		for i := range h.comp.Waiting() {
			put(h.comp.Get(i), "completion ring")
		}
	}
	if len(where) != u.Frames() {
		k.t.Fatalf("%d of %d frames are somewhere", len(where), u.Frames())
	}
	c, err := u.Audit()
	if err != nil {
		k.t.Fatal(err)
	}
	if c.Worker != len(hands) {
		k.t.Fatalf("Audit sees %d frames in the worker's hands, there are %d: %+v", c.Worker, len(hands), c)
	}
}

// fakeRig is n sockets on one UMEM under a fake kernel.
type fakeRig struct {
	k *fake
	u *umem.UMEM
	s []*Socket
	p []*fakeSock // the kernel's side, same order
}

func newFakeRig(t testing.TB, sockets, frames, size int, o Options) *fakeRig {
	t.Helper()
	u, err := umem.New(frames, size)
	if err != nil {
		t.Fatal(err)
	}
	r := &fakeRig{k: newFake(t), u: u}
	for i := range sockets {
		o.Port = frame.PortID(i)
		s, err := open(r.k, u, 10+i, 0, o)
		if err != nil {
			t.Fatal(err)
		}
		r.s = append(r.s, s)
		r.p = append(r.p, r.k.socks[s.FD()])
	}
	t.Cleanup(func() {
		for _, s := range r.s {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := u.Close(); err != nil {
			t.Error(err)
		}
		if r.k.live() != 0 || r.k.maps != 0 {
			t.Errorf("%d descriptors and %d mappings are left", r.k.live(), r.k.maps)
		}
	})
	return r
}

// hands are the addresses of a batch's frames.
func hands(b *frame.Batch) (a []uint64) {
	for i := range b.N {
		a = append(a, b.F[i].Addr)
	}
	return a
}

// seq is the first n indices.
func seq(n int) []uint8 {
	idx := make([]uint8, n)
	for i := range idx {
		idx[i] = uint8(i)
	}
	return idx
}
