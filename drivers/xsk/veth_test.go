package xsk

import (
	"bytes"
	"testing"

	"weir/drivers/umem"
	"weir/internal/testenv"
	"weir/netstack/frame"
)

// rig is two wires with one socket each on one UMEM: a router without the
// routing.
type rig struct {
	u    *umem.UMEM
	a, b *wire
	x, y *Socket
}

func newRig(t *testing.T, frames int, o Options) *rig {
	t.Helper()
	testenv.Namespace(t)
	r := &rig{a: newWire(t, "a", 1), b: newWire(t, "b", 1)}
	var err error
	if r.u, err = umem.New(frames, 2048); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.u.Close(); err != nil {
			t.Error(err)
		}
	})
	o.Port = 3
	r.x = mustOpen(t, r.u, r.a.near, 0, o)
	o.Port = 5
	r.y = mustOpen(t, r.u, r.b.near, 0, o)
	r.x.Service()
	r.y.Service()
	r.a.steer(t, r.x)
	r.b.steer(t, r.y)
	return r
}

func mustOpen(t *testing.T, u *umem.UMEM, ifindex, queue int, o Options) *Socket {
	t.Helper()
	s, err := Open(u, ifindex, queue, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// audit proves that no frame is lost or in two places, with hands frames in the
// test's own.
func audit(t *testing.T, u *umem.UMEM, hands int) {
	t.Helper()
	c, err := u.Audit()
	if err != nil {
		t.Fatal(err)
	}
	if c.Worker != hands {
		t.Fatalf("%d frames in the worker's hands, want %d: %+v", c.Worker, hands, c)
	}
}

// forward moves what has arrived on from to to and reports how many.
func forward(t *testing.T, from, to *Socket, b *frame.Batch, wantIn frame.PortID) int {
	t.Helper()
	from.Service()
	to.Service()
	b.N = 0
	idx := pickTest(from, b)
	for _, i := range idx {
		if b.F[i].In != wantIn {
			t.Fatalf("frame came in on port %d, want %d", b.F[i].In, wantIn)
		}
	}
	n := to.Send(b, idx)
	to.Flush()
	from.Release(b, idx[n:])
	return n
}

// Frames cross from one wire to the other through the two sockets of one UMEM,
// both ways: unchanged, in order, none lost, and every frame comes home.
func TestVethForward(t *testing.T) {
	r := newRig(t, 1024, Options{RingSize: 256})
	if r.x.ZeroCopy() || r.y.ZeroCopy() {
		t.Error("copy mode was asked for")
	}
	var b frame.Batch
	seq := uint32(0)
	for round := range 40 {
		sizes := []int{60, 61, 64, 128, 1000, 1514}
		for range 25 {
			seq++
			r.a.inject(t, testFrame(seq, sizes[int(seq)%len(sizes)]))
		}
		n := 0
		until(t, "25 frames from a to b", func() bool { n += forward(t, r.x, r.y, &b, 3); return n >= 25 }, r.x)
		for i := range uint32(25) {
			s := seq - 24 + i
			if got, want := r.b.expect(t), testFrame(s, sizes[int(s)%len(sizes)]); !bytes.Equal(got, want) {
				t.Fatalf("round %d: frame %d is\n%x, want\n%x", round, s, got, want)
			}
		}
		back := testFrame(seq, 99)
		r.b.inject(t, back)
		n = 0
		until(t, "a frame from b to a", func() bool { n += forward(t, r.y, r.x, &b, 5); return n >= 1 }, r.y)
		if got := r.a.expect(t); !bytes.Equal(got, back) {
			t.Fatalf("back: %x, want %x", got, back)
		}
		audit(t, r.u, 0)
	}
	until(t, "all transmissions complete", func() bool {
		r.x.Service()
		r.y.Service()
		_, tx := r.x.Held()
		_, ty := r.y.Held()
		return tx+ty == 0
	})
	audit(t, r.u, 0)
	st, err := r.y.Stats()
	if err != nil || st.TXFrames != 1000 || st.Completed != 1000 || st.TXInvalid+st.TXInvalidDesc != 0 || st.LastError != nil {
		t.Errorf("%+v, %v", st, err)
	}
}
