package xsk

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"weir/drivers/umem"
	"weir/netstack/frame"
)

// port is worker.Port, which drivers do not import.
type port interface {
	Receive(b *frame.Batch) int
	Release(b *frame.Batch, idx []uint8)
	Service()
	FD() int
	Send(b *frame.Batch, idx []uint8) int
	Flush()
}

var (
	_ port        = (*Socket)(nil)
	_ umem.Holder = (*Socket)(nil)
)

func mustUMEM(t *testing.T, frames int) *umem.UMEM {
	t.Helper()
	u, err := umem.New(frames, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// The first socket registers the memory and chooses the mode; a later one joins
// through a socket that is bound, with no other flag, even after the first is
// gone.
func TestSharing(t *testing.T) {
	u, k := mustUMEM(t, 256), newFake(t)
	a, err := open(k, u, 1, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := open(k, u, 2, 3, Options{Mode: ModeZeroCopy})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := open(k, u, 1, 0, Options{NoNeedWakeup: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []unix.SockaddrXDP{
		{Ifindex: 1, Flags: unix.XDP_COPY | unix.XDP_USE_NEED_WAKEUP},
		{Ifindex: 2, QueueID: 3, Flags: unix.XDP_SHARED_UMEM, SharedUmemFD: 0},
		{Ifindex: 1, Flags: unix.XDP_SHARED_UMEM, SharedUmemFD: 1},
	}
	for i, w := range want {
		g := k.addrs[i]
		if g.Ifindex != w.Ifindex || g.QueueID != w.QueueID || g.Flags != w.Flags || g.SharedUmemFD != w.SharedUmemFD {
			t.Errorf("bind %d: %+v, want %+v", i, g, w)
		}
	}
	if b.Queue() != 3 || c.FD() != 2 {
		t.Errorf("queue %d, descriptor %d", b.Queue(), c.FD())
	}
	for _, s := range []*Socket{b, c} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestModes(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want uint16
		fill int
	}{
		{Options{}, unix.XDP_COPY | unix.XDP_USE_NEED_WAKEUP, 2048},
		{Options{NoNeedWakeup: true, RingSize: 64}, unix.XDP_COPY, 64},
		{Options{Mode: ModeZeroCopy}, unix.XDP_ZEROCOPY | unix.XDP_USE_NEED_WAKEUP, 4096},
		{Options{Mode: ModeAuto, RingSize: 128}, unix.XDP_USE_NEED_WAKEUP, 256},
		{Options{Mode: ModeAuto, FillSize: 4096}, unix.XDP_USE_NEED_WAKEUP, 4096},
	} {
		u, k := mustUMEM(t, 64), newFake(t)
		k.zc = c.o.Mode != ModeCopy
		s, err := open(k, u, 1, 0, c.o)
		if err != nil {
			t.Fatal(err)
		}
		if f := k.addrs[0].Flags; f != c.want || s.fill.Cap() != c.fill || s.ZeroCopy() != k.zc {
			t.Errorf("%+v: flags %#x, fill ring of %d, zero-copy %v", c.o, f, s.fill.Cap(), s.ZeroCopy())
		}
		s.Close()
		u.Close()
	}
}

func TestBadOptions(t *testing.T) {
	u, k := mustUMEM(t, 64), newFake(t)
	for _, c := range []struct {
		ifindex, queue int
		o              Options
		want           string
	}{
		{1, 0, Options{RingSize: 1000}, "RingSize: ring of 1000 entries: has to be a power of two"},
		{1, 0, Options{RingSize: -2}, "power of two"},
		{1, 0, Options{FillSize: 3000}, "FillSize: ring of 3000 entries: has to be a power of two"},
		{1, 0, Options{FillSize: 1024}, "leave FillSize 0"},
		{1, 0, Options{Mode: 7}, "use ModeCopy, ModeZeroCopy or ModeAuto"},
		{1, 0, Options{SendBuffer: -1}, "leave it 0"},
		{0, 0, Options{Label: "port wan"}, "port wan queue 0: no such interface index or queue"},
		{1, -1, Options{}, "no such interface index or queue"},
	} {
		if _, err := open(k, u, c.ifindex, c.queue, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c, err, c.want)
		}
	}
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(k, u, 1, 0, Options{}); err == nil || !strings.Contains(err.Error(), "make a new one") {
		t.Errorf("closed memory: %v", err)
	}
	if len(k.socks) != 0 {
		t.Error("the kernel was asked")
	}
}

// A queue whose last socket is on its way out is waited for; one that stays taken
// is an error that says so, soon.
func TestBusyQueue(t *testing.T) {
	u, k := mustUMEM(t, 64), newFake(t)
	k.busy = 7
	s, err := open(k, u, 1, 0, Options{})
	if err != nil || k.pauses != 7 {
		t.Fatalf("%v after %d pauses", err, k.pauses)
	}
	s.Close()
	k.busy = 1 << 30
	_, err = open(k, u, 1, 5, Options{Label: "port lan"})
	if !errors.Is(err, unix.EBUSY) || !strings.Contains(err.Error(), "af_xdp socket on port lan queue 5: bind: ") || !strings.Contains(err.Error(), "another AF_XDP socket has this queue") {
		t.Error(err)
	}
	if k.pauses != 7+bindTries || k.live() != 0 || k.maps != 0 {
		t.Errorf("%d pauses, %d descriptors, %d mappings", k.pauses, k.live(), k.maps)
	}
}

// Each errno keeps its identity and comes with what to do about it.
func TestErrorsExplain(t *testing.T) {
	at := map[step]int{stepSocket: 1, stepRegister: 2, stepRing: 3, stepMap: 8, stepSend: 12, stepBind: 13, stepMode: 14}
	for _, c := range []struct {
		at   step
		e    unix.Errno
		want string
	}{
		{stepSocket, unix.EPERM, "run as root"},
		{stepSocket, unix.EAFNOSUPPORT, "CONFIG_XDP_SOCKETS"},
		{stepRegister, unix.ENOBUFS, "131072 bytes cannot be locked in memory: raise RLIMIT_MEMLOCK"},
		{stepRegister, unix.ENOMEM, "use fewer frames"},
		{stepRegister, unix.EINVAL, "frames of 2048 bytes with headroom 0 are refused"},
		{stepRing, unix.ENOMEM, "smaller rings"},
		{stepRing, unix.EINVAL, "power of two"},
		{stepMap, unix.ENOMEM, "smaller rings"},
		{stepSend, unix.EPERM, "run as root"},
		{stepBind, unix.ENODEV, "no such interface"},
		{stepBind, unix.EINVAL, "the port has no such queue"},
		{stepBind, unix.EPERM, "run as root"},
		{stepBind, unix.EOPNOTSUPP, "use copy mode"},
		{stepBind, unix.ENOBUFS, "RLIMIT_MEMLOCK"},
		{stepBind, unix.ENOMEM, "use fewer frames"},
		{stepBind, unix.ENETDOWN, "set it up first"},
		{stepBind, unix.ENOPROTOOPT, "kernel is too old"},
		{stepMode, unix.EIO, ""},
	} {
		u, k := mustUMEM(t, 64), newFake(t)
		f := &failing{kernel: k, at: at[c.at], err: &wrapped{c.e}}
		_, err := open(f, u, 4, 2, Options{})
		if !errors.Is(err, c.e) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "af_xdp socket on interface 4 queue 2: "+string(c.at)+": ") {
			t.Errorf("%s, %v: %v, want %q", c.at, c.e, err, c.want)
		}
		u.Close()
	}
}

// wrapped stands for os.SyscallError and whatever else wraps an errno.
type wrapped struct{ e error }

func (w *wrapped) Error() string { return w.e.Error() }
func (w *wrapped) Unwrap() error { return w.e }

// The second socket of a UMEM gets another sentence where the first decided.
func TestErrorsExplainSharing(t *testing.T) {
	for e, want := range map[unix.Errno]string{
		unix.EOPNOTSUPP: "the worker's first port is in zero-copy mode",
		unix.EINVAL:     "or a socket of this worker has it already",
	} {
		u, k := mustUMEM(t, 64), newFake(t)
		a, err := open(k, u, 1, 0, Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = open(&failing{kernel: k, at: 12, err: e}, u, 1, 1, Options{})
		if !errors.Is(err, e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", e, err)
		}
		if k.live() != 1 || k.maps != 4 {
			t.Errorf("%d descriptors, %d mappings: the first socket's 1 and 4 should be left", k.live(), k.maps)
		}
		a.Close()
		u.Close()
	}
}

// A kernel that does not tell where the flags are is refused, not guessed at.
func TestShortAnswer(t *testing.T) {
	if err := sized("ring offsets", 128, 128); err != nil {
		t.Error(err)
	}
	if err := sized("ring offsets", 96, 128); !errors.Is(err, errOldKernel) {
		t.Error(err)
	}
}

// With Frames frames, every ring of every socket can be full at once.
func TestFrames(t *testing.T) {
	for sockets := 1; sockets <= 6; sockets++ {
		r := newFakeRig(t, sockets, Frames(sockets, 64), 2048, Options{RingSize: 64})
		if q := r.u.Quota(); q != 64 {
			t.Errorf("%d sockets: a share of %d, want a whole ring", sockets, q)
		}
		for i, s := range r.s {
			s.Service()
			if rx, _ := s.Held(); rx != 64 {
				t.Errorf("socket %d of %d holds %d", i, sockets, rx)
			}
		}
		for i := range r.s {
			r.load(t, i, 64)
		}
		if r.u.Free() != frame.BatchSize {
			t.Errorf("%d sockets: %d frames left for the batch", sockets, r.u.Free())
		}
	}
	if Frames(2, 0) != 2*2*DefaultRingSize+frame.BatchSize {
		t.Error("the default ring size is not meant")
	}
}
