package xsk

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"weir/netstack/frame"
)

// Close with frames everywhere: the socket's own are lost to the UMEM, counted
// as such; the batch's are released as before; nothing else happens on a closed
// socket, and the worker's other socket goes on.
func TestCloseInFlight(t *testing.T) {
	r := newFakeRig(t, 2, 512, 2048, Options{RingSize: 64})
	r.s[0].Service()
	r.s[1].Service()
	for range 10 {
		r.p[0].deliver(r.k, 100, 1)
	}
	var b frame.Batch
	if r.s[0].Receive(&b) != 10 {
		t.Fatal("nothing received")
	}
	idx := seq(10)
	r.s[0].Send(&b, idx[:6])
	r.s[0].Flush()
	r.p[0].complete(2)
	r.s[0].Send(&b, idx[6:8]) // stay on the ring
	rx, _ := r.s[0].Held()
	for range 2 {
		if err := r.s[0].Close(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := r.u.Audit()
	if err != nil || c.Lost != rx+6 || c.Worker != 2 {
		t.Errorf("%+v, %v: want %d lost, 2 with the worker", c, err, rx+6)
	}
	var late frame.Batch
	s := r.s[0]
	s.Service()
	s.Flush()
	if n := s.Receive(&late) + s.Send(&b, idx[8:]); n != 0 || s.FD() != -1 {
		t.Errorf("a closed socket moved %d frames, descriptor %d", n, s.FD())
	}
	s.Release(&b, idx[8:])
	if c, err := r.u.Audit(); err != nil || c.Worker != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if st, err := s.Stats(); err != nil || st.RXFrames != 10 || st.TXFrames != 8 || st.Completed != 2 {
		t.Errorf("%+v, %v", st, err)
	}
	for range 100 {
		r.p[1].deliver(r.k, 100, 1)
		if got, sent := r.round(1, 1, &b); got != 1 || sent != 1 {
			t.Fatal("the other socket is disturbed")
		}
		r.p[1].complete(1)
	}
	if r.k.live() != 1 || r.k.maps != 4 {
		t.Errorf("%d descriptors and %d mappings, want the other socket's", r.k.live(), r.k.maps)
	}
}

// stubborn cannot unmap or close.
type stubborn struct{ *fake }

func (s stubborn) munmap(m []byte) error { _ = s.fake.munmap(m); return unix.EINVAL }
func (s stubborn) close(fd int) error    { _ = s.fake.close(fd); return unix.EIO }

// A failing release goes on to the end and says everything that failed.
func TestCloseReports(t *testing.T) {
	u, k := mustUMEM(t, 64), newFake(t)
	s, err := open(stubborn{k}, u, 1, 0, Options{Label: "port wan"})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Close()
	if !errors.Is(err, unix.EIO) || !errors.Is(err, unix.EINVAL) || !strings.HasPrefix(err.Error(), "af_xdp socket on port wan queue 0: close: ") {
		t.Error(err)
	}
	if k.live() != 0 || k.maps != 0 {
		t.Errorf("%d descriptors and %d mappings are left", k.live(), k.maps)
	}
	if err := u.Close(); err != nil {
		t.Error(err)
	}
}

// Stats and Close may meet.
func TestStatsDuringClose(t *testing.T) {
	r := newFakeRig(t, 1, 64, 2048, Options{RingSize: 64})
	done := make(chan error)
	go func() {
		for range 1000 {
			if _, err := r.s[0].Stats(); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	if err := r.s[0].Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
