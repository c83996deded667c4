package xsk

import (
	"testing"

	"golang.org/x/sys/unix"

	"weir/netstack/frame"
)

// round is the worker's: everything that arrives on socket in leaves by socket
// out, or is released. It reports what was received and what was sent.
func (r *fakeRig) round(in, out int, b *frame.Batch) (got, sent int) {
	r.s[in].Service()
	b.N = 0
	got = r.s[in].Receive(b)
	idx := seq(got)
	sent = r.s[out].Send(b, idx)
	r.s[out].Flush()
	r.s[in].Release(b, idx[sent:])
	return got, sent
}

// Case A12 a: a port that never completes takes its share of the frames and no
// more; the others go on; when it completes everything in one burst, traffic goes
// on without a restart.
func TestTransmitNeverCompletes(t *testing.T) {
	r := newFakeRig(t, 3, 256, 2048, Options{RingSize: 128})
	share := r.u.Quota()
	if share != (256-frame.BatchSize)/6 {
		t.Fatalf("share of %d frames", share)
	}
	var b frame.Batch
	for _, s := range r.s {
		s.Service()
	}
	lost := 0
	for range 1000 { // to port 1, which keeps everything
		if !r.p[0].deliver(r.k, 100, 1) {
			t.Fatal("reception starves")
		}
		got, sent := r.round(0, 1, &b)
		if got != 1 {
			t.Fatal("a frame is not received")
		}
		lost += got - sent
		r.census(nil)
	}
	if _, tx := r.s[1].Held(); tx != share || lost != 1000-share || r.p[1].sent != share {
		t.Fatalf("port 1 holds %d of a share of %d; %d sent, %d not taken", tx, share, r.p[1].sent, lost)
	}
	for range 1000 { // port 2 works all the time
		if !r.p[0].deliver(r.k, 100, 1) {
			t.Fatal("reception starves")
		}
		if _, sent := r.round(0, 2, &b); sent != 1 {
			t.Fatal("another port is starved")
		}
		r.p[2].complete(1)
		r.s[2].Service()
	}
	r.p[1].complete(share)
	r.census(nil)
	for range 100 {
		r.p[0].deliver(r.k, 100, 1)
		if _, sent := r.round(0, 1, &b); sent != 1 {
			t.Fatal("traffic does not resume")
		}
		r.p[1].complete(1)
	}
	r.census(nil)
}

// Case A12 b: the worker is away while traffic flows. What is lost is in the
// kernel's statistics, not in what we count as received, and reception resumes.
func TestConsumerSleeps(t *testing.T) {
	for _, o := range []Options{{RingSize: 64}, {RingSize: 32, FillSize: 64}} {
		r := newFakeRig(t, 2, 512, 2048, o)
		r.s[0].Service()
		r.s[1].Service()
		ok := 0
		for range 500 {
			if r.p[0].deliver(r.k, 60, 1) {
				ok++
			}
		}
		if ok != o.RingSize {
			t.Errorf("%d frames were taken by an RX ring of %d", ok, o.RingSize)
		}
		var b frame.Batch
		total := 0
		for {
			n, _ := r.round(0, 1, &b)
			if total += n; n == 0 {
				break
			}
		}
		st, err := r.s[0].Stats()
		if err != nil || st.RXFrames != uint64(ok) || total != ok || st.RXRingFull+st.RXFillEmpty != uint64(500-ok) {
			t.Errorf("%+v %v, %d received", st, err, total)
		}
		r.census(nil)
		for range 200 { // and on it goes
			if !r.p[0].deliver(r.k, 60, 1) {
				t.Fatal("reception does not resume")
			}
			if n, _ := r.round(0, 1, &b); n != 1 {
				t.Fatal("a frame is not received")
			}
			r.p[1].complete(8)
			r.s[1].Service()
		}
		r.census(nil)
	}
}

// Case A12 c: the TX ring is full. Send takes what fits, in order, and the rest
// returns to the pool.
func TestTransmitRingFull(t *testing.T) {
	r := newFakeRig(t, 2, 1024, 2048, Options{RingSize: 32})
	r.p[1].stuckSet, r.p[1].stuck = true, unix.EAGAIN
	r.s[0].Service()
	var b frame.Batch
	for i := range 32 {
		r.p[0].deliver(r.k, 60+i, byte(i))
	}
	r.s[0].Receive(&b)
	if n := r.s[1].Send(&b, seq(20)); n != 20 {
		t.Fatalf("took %d of 20", n)
	}
	if n := r.s[1].Send(&b, []uint8{31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 20, 20}); n != 12 {
		t.Fatalf("took %d into the 12 entries left", n)
	}
	for i := range r.p[1].tx.Waiting() {
		want := i
		if i >= 20 {
			want = 51 - i
		}
		if d := r.p[1].tx.Get(i); int(d.Len) != 60+want {
			t.Fatalf("entry %d is of %d bytes, want frame %d", i, d.Len, want)
		}
	}
	if n := r.s[1].Send(&b, seq(3)); n != 0 {
		t.Fatalf("a full ring took %d", n)
	}
	r.census(nil)
	r.s[0].Service()
	for range 16 { // more arrives meanwhile: taken from the wire, dropped, recycled
		r.p[0].deliver(r.k, 60, 0)
		if got, sent := r.round(0, 1, &b); got != 1 || sent != 0 {
			t.Fatalf("received %d, sent %d", got, sent)
		}
		r.census(nil)
	}
	r.p[1].stuckSet = false
	for range maxSkip + 1 {
		r.s[1].Service()
	}
	if r.p[1].sent != 32 {
		t.Errorf("%d left once the device could, want 32", r.p[1].sent)
	}
	r.census(nil)
}

// Case A12 d: exactly when the fill ring asks is the kernel called for
// reception.
func TestWakeForReception(t *testing.T) {
	r := newFakeRig(t, 1, 256, 2048, Options{RingSize: 64})
	s, p := r.s[0], r.p[0]
	var b frame.Batch
	for range 10 {
		s.Service()
		s.Receive(&b)
		s.Flush()
	}
	if p.pokes != 0 || p.kicks != 0 {
		t.Errorf("%d pokes and %d kicks that nobody asked for", p.pokes, p.kicks)
	}
	*p.fillFlags = unix.XDP_RING_NEED_WAKEUP
	for i := range 5 {
		s.Service()
		if p.pokes != i+1 {
			t.Fatalf("%d pokes after %d rounds with the flag set", p.pokes, i+1)
		}
	}
	s.Receive(&b)
	s.Flush()
	*p.fillFlags = 0
	s.Service()
	if st, _ := s.Stats(); p.pokes != 5 || st.Wakeups != 5 {
		t.Errorf("%d pokes, %d counted, want 5", p.pokes, st.Wakeups)
	}
}

// Without frames to receive into there is nothing to wake the kernel for, and the
// counter says why the port is silent.
func TestNoFrameLeft(t *testing.T) {
	r := newFakeRig(t, 1, 256, 2048, Options{RingSize: 64})
	all := make([]uint64, 256)
	n := r.u.GetN(all)
	*r.p[0].fillFlags = unix.XDP_RING_NEED_WAKEUP
	r.s[0].Service()
	st, _ := r.s[0].Stats()
	if r.p[0].pokes != 0 || st.Starved != 1 {
		t.Errorf("%d pokes, starved %d", r.p[0].pokes, st.Starved)
	}
	r.u.PutN(all[:n])
	r.s[0].Service()
	if st, _ = r.s[0].Stats(); r.p[0].pokes != 1 || st.Starved != 1 {
		t.Errorf("%d pokes, starved %d after frames came back", r.p[0].pokes, st.Starved)
	}
	r.census(nil)
}

// Case A12 e: the completion ring is not drained for long. Nothing is written
// over: what is in flight and completed never exceeds the ring.
func TestCompletionsWait(t *testing.T) {
	r := newFakeRig(t, 2, 1024, 2048, Options{RingSize: 32})
	r.s[0].Service()
	var b frame.Batch
	total := 0
	for range 200 { // Send reaps by itself only when it runs out of room
		r.p[0].deliver(r.k, 60, 0)
		_, sent := r.round(0, 1, &b)
		total += sent
		r.p[1].complete(1) // panics on overflow
		if _, tx := r.s[1].Held(); tx > 32 {
			t.Fatalf("%d in flight with a completion ring of 32", tx)
		}
		r.census(nil)
	}
	if total != 200 {
		t.Errorf("%d of 200 were sent", total)
	}
	r.s[1].Service()
	if st, _ := r.s[1].Stats(); st.Completed != 200 {
		t.Errorf("%d completed", st.Completed)
	}
}
