package xsk

import (
	"testing"

	"golang.org/x/sys/unix"

	"weir/netstack/frame"
)

// load puts n frames on socket out's TX ring, unsent.
func (r *fakeRig) load(t *testing.T, out, n int) {
	t.Helper()
	for n > 0 {
		var b frame.Batch
		k := min(n, len(b.F))
		for i := range k {
			a, ok := r.u.Get()
			if !ok {
				t.Fatal("no frame")
			}
			b.F[i] = frame.Frame{Addr: a + 256, Data: r.u.Packet(a+256, 60)}
		}
		b.N = k
		if got := r.s[out].Send(&b, seq(k)); got != k {
			t.Fatalf("Send took %d of %d", got, k)
		}
		n -= k
	}
}

// The kernel sends 32 frames a call: Flush goes on until the ring is empty, in
// no more calls than that takes.
func TestFlushDrains(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 32: 1, 33: 2, 64: 2, 100: 4, 256: 8} {
		r := newFakeRig(t, 1, 2048, 2048, Options{RingSize: 256})
		r.load(t, 0, n)
		if r.p[0].kicks != 0 {
			t.Error("Send called the kernel")
		}
		r.s[0].Flush()
		r.s[0].Flush()
		st, _ := r.s[0].Stats()
		if r.p[0].kicks != want || r.p[0].sent != n || st.Kicks != uint64(want) {
			t.Errorf("%d frames: %d sent in %d calls (%d counted), want %d", n, r.p[0].sent, r.p[0].kicks, st.Kicks, want)
		}
		if again := max(want-1, 0); st.Again != uint64(again) {
			t.Errorf("%d frames: EAGAIN %d times, want %d", n, st.Again, again)
		}
	}
}

// A ring that does not move is not kicked on and on, whatever the call says: not
// on success either, which is what a queue without a TX queue says forever. Once
// it moves again, everything leaves.
func TestFlushStopsWithoutProgress(t *testing.T) {
	for _, e := range []unix.Errno{0, unix.EAGAIN, unix.ENETDOWN, unix.ENXIO, unix.ENOBUFS} {
		r := newFakeRig(t, 1, 1024, 2048, Options{RingSize: 128})
		p := r.p[0]
		p.stuckSet, p.stuck = true, e
		r.load(t, 0, 50)
		r.s[0].Flush()
		if p.kicks != 1 {
			t.Fatalf("%v: %d calls in one Flush", e, p.kicks)
		}
		for range 1000 {
			r.s[0].Service()
		}
		if p.kicks < 10 || p.kicks > 40 {
			t.Errorf("%v: %d calls in 1000 rounds, want some but few", e, p.kicks)
		}
		st, _ := r.s[0].Stats()
		if wantErr := e != 0 && e != unix.EAGAIN; (st.LastError != nil) != wantErr || wantErr && st.LastError != e {
			t.Errorf("%v: LastError %v", e, st.LastError)
		}
		p.stuckSet = false
		for range maxSkip + 1 {
			r.s[0].Service()
		}
		if p.sent != 50 {
			t.Errorf("%v: %d of 50 left after recovery", e, p.sent)
		}
		before := p.kicks
		r.load(t, 0, 1)
		r.s[0].Flush()
		if p.kicks != before+1 || p.sent != 51 {
			t.Errorf("%v: a ring that moves again is not served at once", e)
		}
		r.census(nil)
	}
}

// A completion is a sign that the device has room: the next round kicks at once.
func TestCompletionEndsTheWait(t *testing.T) {
	r := newFakeRig(t, 1, 1024, 2048, Options{RingSize: 128})
	p := r.p[0]
	r.load(t, 0, 10)
	r.s[0].Flush()
	p.stuckSet, p.stuck = true, unix.EAGAIN
	r.load(t, 0, 10)
	for range 200 {
		r.s[0].Service()
	}
	p.stuckSet = false
	p.complete(1)
	r.s[0].Service()
	if p.sent != 20 {
		t.Errorf("%d of 20 were sent in the round after a completion", p.sent)
	}
}

// A packet that the device refuses in copy mode (EBUSY) is consumed: the rest is
// sent, and the loss has its counter.
func TestDeviceRefuses(t *testing.T) {
	r := newFakeRig(t, 1, 1024, 2048, Options{RingSize: 128})
	p := r.p[0]
	p.dropNext = 3
	r.load(t, 0, 20)
	r.s[0].Flush()
	p.complete(20)
	r.s[0].Service()
	st, _ := r.s[0].Stats()
	if p.sent != 17 || st.TXDropped != 3 || st.Completed != 20 || st.Errors != 0 {
		t.Errorf("%d sent, %+v", p.sent, st)
	}
	r.census(nil)
}

// A driver that watches the TX ring by itself clears the flag: no calls then.
func TestNoKickUnlessAsked(t *testing.T) {
	r := newFakeRig(t, 1, 1024, 2048, Options{RingSize: 128})
	*r.p[0].txFlags = 0
	r.load(t, 0, 20)
	r.s[0].Flush()
	r.s[0].Service()
	if r.p[0].kicks != 0 {
		t.Errorf("%d kicks that nobody asked for", r.p[0].kicks)
	}
	*r.p[0].txFlags = unix.XDP_RING_NEED_WAKEUP
	r.s[0].Service()
	if r.p[0].kicks != 1 || r.p[0].sent != 20 {
		t.Errorf("%d kicks, %d sent once it asked", r.p[0].kicks, r.p[0].sent)
	}
}

// What the kernel would reject without ever completing it does not get onto the
// ring and is not lost.
func TestSendRefusesNonFrames(t *testing.T) {
	r := newFakeRig(t, 1, 256, 2048, Options{RingSize: 64})
	var b frame.Batch
	for i, f := range []struct{ off, n int }{{256, 60}, {256, 0}, {256, 13}, {256, 14}, {2000, 48}, {2000, 48}, {0, 2048}} {
		a, _ := r.u.Get()
		at := a + uint64(f.off)
		b.F[i] = frame.Frame{Addr: at, Data: r.u.Packet(at, f.n)}
		b.N++
	}
	b.F[5].Data = b.F[5].Data[:48:48]
	b.F[5].Data = append(b.F[5].Data, 0) // reaches into the next frame
	if n := r.s[0].Send(&b, seq(b.N)); n != b.N {
		t.Fatalf("took %d of %d", n, b.N)
	}
	r.s[0].Flush()
	st, _ := r.s[0].Stats()
	if r.p[0].sent != 4 || st.TXInvalid != 3 || st.TXFrames != 4 {
		t.Errorf("%d sent, %d invalid", r.p[0].sent, st.TXInvalid)
	}
	r.census(nil)
}
