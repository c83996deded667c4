package handoff

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/netstack/frame"
)

// frames is a worker's memory that knows where each frame is.
type frames struct {
	t    *testing.T
	mem  []byte
	free []uint64
	out  map[uint64]bool // taken
}

const size = 2048

func newFrames(t *testing.T, n int) *frames {
	f := &frames{t: t, mem: make([]byte, n*size), out: map[uint64]bool{}}
	for i := range n {
		f.free = append(f.free, uint64(i*size))
	}
	return f
}

func (f *frames) Get() (uint64, bool) {
	if len(f.free) == 0 {
		return 0, false
	}
	a := f.free[len(f.free)-1]
	f.free = f.free[:len(f.free)-1]
	f.out[a] = true
	return a + 256, true
}

func (f *frames) Put(addr uint64) {
	a := addr &^ (size - 1)
	if !f.out[a] {
		f.t.Errorf("frame %#x put twice, or foreign", a)
	}
	delete(f.out, a)
	f.free = append(f.free, a)
}

func (f *frames) Room(addr uint64) []byte { return f.mem[addr : addr|(size-1)+1] }

// fill makes a batch of n frames from f that count up from seq.
func fill(f *frames, b *frame.Batch, n int, seq uint32) {
	b.N = 0
	for range n {
		a, ok := f.Get()
		if !ok {
			return
		}
		d := f.Room(a)[:60+seq%1400]
		binary.BigEndian.PutUint32(d, seq)
		d[len(d)-1] = byte(seq)
		b.F[b.N] = frame.Frame{Data: d, Addr: a, NextHop: seq, In: 3, Out: frame.PortID(seq % 8), Verdict: frame.VerdictForward}
		b.N++
		seq++
	}
}

func all(n int) []uint8 {
	idx := make([]uint8, n)
	for i := range idx {
		idx[i] = uint8(i)
	}
	return idx
}

// Two workers' threads: everything arrives once, in order and whole, the
// receiver sleeps in poll and is woken, and every frame comes back to the
// memory that it is of.
func TestHandOver(t *testing.T) {
	from, to := newFrames(t, 256), newFrames(t, 300)
	s, r, err := New(from, to, 64)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const total = 20000
	done := make(chan uint32)
	go func() { // the receiving worker
		var b frame.Batch
		var want uint32
		fds := []unix.PollFd{{Fd: int32(r.FD()), Events: unix.POLLIN}}
		for end := time.Now().Add(time.Minute); want < total && time.Now().Before(end); {
			r.Service()
			b.N = 0
			if r.Receive(&b) == 0 {
				// A lost wake-up shows as a wait for the whole time.
				if n, err := unix.Poll(fds, 20000); n == 0 && err == nil {
					t.Error("the receiver was not woken")
					break
				}
				continue
			}
			for i := range b.F[:b.N] {
				f := &b.F[i]
				if got := binary.BigEndian.Uint32(f.Data); got != want || f.NextHop != want || f.In != 3 ||
					f.Out != frame.PortID(want%8) || len(f.Data) != int(60+want%1400) || f.Data[len(f.Data)-1] != byte(want) {
					t.Errorf("frame %d: got %d, %d bytes, out %d", want, got, len(f.Data), f.Out)
				}
				want++
			}
			r.Release(&b, all(b.N))
		}
		done <- want
	}()
	var b frame.Batch
	rng := rand.New(rand.NewPCG(1, 2))
	for seq, end := uint32(0), time.Now().Add(time.Minute); seq < total && time.Now().Before(end); {
		fill(from, &b, min(1+rng.IntN(64), total-int(seq)), seq)
		idx := all(b.N)
		n := s.Send(&b, idx)
		s.Flush()
		for _, i := range idx[n:] {
			from.Put(b.F[i].Addr)
		}
		seq += uint32(n)
		if rng.IntN(50) == 0 {
			time.Sleep(50 * time.Microsecond) // lets the receiver fall asleep
		}
	}
	if got := <-done; got != total {
		t.Errorf("received %d of %d", got, total)
	}
	if len(from.free) != 256 {
		t.Errorf("%d of 256 sender frames are free", len(from.free))
	}
	if len(to.free)+r.lentN != 300 {
		t.Errorf("%d free and %d lent of 300 receiver frames", len(to.free), r.lentN)
	}
}

// Without lent frames nothing is taken, and the frames stay the sender's.
func TestNothingLent(t *testing.T) {
	from, to := newFrames(t, 8), newFrames(t, 0)
	s, r, err := New(from, to, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b frame.Batch
	fill(from, &b, 8, 0)
	r.Service()
	if n := s.Send(&b, all(8)); n != 0 {
		t.Errorf("took %d", n)
	}
	if len(from.free) != 0 {
		t.Errorf("%d frames were given back that are still the batch's", len(from.free))
	}
}

func TestNoAllocation(t *testing.T) {
	from, to := newFrames(t, 64), newFrames(t, 64)
	s, r, err := New(from, to, 64)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b frame.Batch
	idx := all(32)
	round := func() {
		r.Service()
		fill(from, &b, 32, 0)
		s.Send(&b, idx)
		s.Flush()
		b.N = 0
		r.Receive(&b)
		r.Release(&b, idx[:b.N])
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}
