package xsk

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"weir/netstack/frame"
)

// Cases A11 and A12 together: a million random steps of three ports, the worker
// and the kernel. Packets start where the kernel puts them and are moved as tunnels
// move them (+50, -50, -4), forwarded or dropped; devices get stuck and recover,
// completions come late and in bursts, batches stay in the worker's hands. Every
// address on a fill ring is a frame's base, each frame is always in exactly one
// place (the census), and packets keep their content. On arm, which is mostly an
// emulated guest, there are fewer.
func TestMillionRandomSteps(t *testing.T) {
	steps := 1_000_000
	if raceEnabled || testing.Short() || runtime.GOARCH == "arm" || runtime.GOARCH == "arm64" {
		steps = 100_000
	}
	for _, size := range []int{2048, 4096} {
		seed := uint64(size)
		r := newFakeRig(t, 3, 500, size, Options{RingSize: 64})
		rnd := rand.New(rand.NewPCG(seed, 7))
		w := randomWorker{r: r, rnd: rnd}
		for i := range steps / 2 {
			w.step(t)
			if i%1000 == 0 {
				r.census(hands(&w.b))
			}
		}
		// Quiet: everything comes home, and all can still be used.
		for i, p := range r.p {
			p.stuckSet = false
			r.s[i].Release(&w.b, seq(w.b.N))
			w.b.N = 0
		}
		for range 4 * (maxSkip + 1) {
			for i, s := range r.s {
				r.p[i].complete(1000)
				s.Service()
				if n := s.Receive(&w.b); n > 0 {
					s.Release(&w.b, seq(n))
					w.b.N = 0
				}
			}
		}
		r.census(nil)
		for i, s := range r.s {
			rx, tx := s.Held()
			if tx != 0 || rx != min(64, r.u.Quota()) {
				t.Errorf("socket %d holds %d and %d at rest", i, rx, tx)
			}
		}
		if w.forwarded < steps/20 || w.dropped < steps/100 {
			t.Errorf("only %d forwarded and %d dropped: the test tests little", w.forwarded, w.dropped)
		}
	}
}

type randomWorker struct {
	r                  *fakeRig
	rnd                *rand.Rand
	b                  frame.Batch
	mark               byte
	forwarded, dropped int
}

func (w *randomWorker) step(t *testing.T) {
	t.Helper()
	r, rnd := w.r, w.rnd
	i := rnd.IntN(3)
	switch rnd.IntN(9) {
	case 0, 1, 2: // packets arrive
		for range rnd.IntN(8) {
			w.mark++
			r.p[i].deliver(r.k, 60+rnd.IntN(1400), w.mark)
		}
	case 3: // transmissions complete
		r.p[i].complete(rnd.IntN(100))
	case 4: // a device gets stuck or recovers, or refuses packets
		r.p[i].stuckSet, r.p[i].stuck = rnd.IntN(3) == 0, []unix.Errno{0, unix.EAGAIN, unix.ENETDOWN}[rnd.IntN(3)]
		r.p[i].dropNext = rnd.IntN(3)
		*r.p[i].fillFlags = uint32(rnd.IntN(2))
	case 5:
		r.s[i].Service()
	case 6:
		r.s[i].Receive(&w.b)
	case 7:
		w.moveSome(t)
	case 8:
		w.empty(i)
	}
}

// moveSome moves packets' starts as encapsulation and decapsulation do.
func (w *randomWorker) moveSome(t *testing.T) {
	for i := range w.b.N {
		f := &w.b.F[i]
		if w.rnd.IntN(2) == 0 || len(f.Data) < 120 {
			continue
		}
		last := f.Data[len(f.Data)-1]
		switch w.rnd.IntN(3) {
		case 0:
			w.r.u.Pull(f, 50)
		case 1:
			w.r.u.Push(f, 50)
		case 2:
			w.r.u.Push(f, 4)
		}
		if f.Data[len(f.Data)-1] != last {
			t.Fatal("a packet's end has moved")
		}
	}
}

// empty forwards a random part of the batch out of socket out and releases the
// rest.
func (w *randomWorker) empty(out int) {
	var send, drop []uint8
	for i := range w.b.N {
		if w.rnd.IntN(4) > 0 {
			send = append(send, uint8(i))
		} else {
			drop = append(drop, uint8(i))
		}
	}
	n := w.r.s[out].Send(&w.b, send)
	if w.rnd.IntN(4) > 0 {
		w.r.s[out].Flush()
	}
	w.r.s[out].Release(&w.b, send[n:])
	w.r.s[out].Release(&w.b, drop)
	w.forwarded += n
	w.dropped += w.b.N - n
	w.b.N = 0
}

// Nothing in the loop allocates.
func TestNoAllocation(t *testing.T) {
	r := newFakeRig(t, 2, 1024, 2048, Options{RingSize: 128})
	r.s[0].Service()
	r.s[1].Service()
	var b frame.Batch
	idx := seq(frame.BatchSize)
	moved := 0
	n := testing.AllocsPerRun(200, func() {
		for range 40 {
			r.p[0].deliver(r.k, 100, 1)
		}
		r.s[0].Service()
		r.s[1].Service()
		b.N = 0
		k := r.s[0].Receive(&b)
		r.s[1].Send(&b, idx[:k-5])
		r.s[1].Flush()
		r.s[0].Release(&b, idx[k-5:k])
		r.p[1].complete(k)
		moved += k
	})
	if n != 0 || moved < 200*40 {
		t.Errorf("%v allocations a round, %d frames moved", n, moved)
	}
	r.census(nil)
}
