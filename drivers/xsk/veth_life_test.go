package xsk

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"weir/drivers/umem"
	"weir/internal/testenv"
	"weir/netstack/frame"
)

// A worker is torn down with frames in flight and built anew on the same queues,
// several times, with nothing left behind.
func TestVethRebuild(t *testing.T) {
	testenv.Namespace(t)
	a, b := newWire(t, "a", 1), newWire(t, "b", 1)
	fds, maps := kernelHas(t)
	for round := range uint32(5) {
		u, err := umem.New(256, 2048)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Open(u, a.near, 0, Options{RingSize: 64, Port: 1})
		if err != nil {
			t.Fatal(err)
		}
		y, err := Open(u, b.near, 0, Options{RingSize: 64, Port: 2})
		if err != nil {
			t.Fatal(err)
		}
		x.Service()
		y.Service()
		a.steer(t, x)
		b.steer(t, y)
		var batch frame.Batch
		a.inject(t, testFrame(round, 200))
		until(t, "a frame to cross", func() bool { return forward(t, x, y, &batch, 1) > 0 }, x)
		if got := b.expect(t); !bytes.Equal(got, testFrame(round, 200)) {
			t.Fatalf("round %d: %x", round, got)
		}
		for i := range uint32(30) { // left on the RX ring and on the TX ring
			a.inject(t, testFrame(i, 60))
		}
		f, _ := u.Get()
		batch.F[0], batch.N = frame.Frame{Addr: f + 256, Data: u.Packet(f+256, 60)}, 1
		y.Send(&batch, seq(1))
		for _, c := range []interface{ Close() error }{x, y, u} {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if f, m := kernelHas(t); f != fds || m != maps {
			t.Errorf("round %d: %d descriptors and %d mappings, at first %d and %d", round, f, m, fds, maps)
		}
	}
}

// The socket that registered the memory goes; the others still work, and a new
// one joins them. Frames for a closed socket are the kernel's again.
func TestVethFirstSocketGoes(t *testing.T) {
	r := newRig(t, 512, Options{RingSize: 64})
	near := packetSocket(t, r.a.near)
	if err := r.x.Close(); err != nil {
		t.Fatal(err)
	}
	r.a.inject(t, testFrame(1, 60))
	buf := make([]byte, 100)
	until(t, "the kernel to get the frame", func() bool {
		n, err := unix.Read(near, buf)
		return err == nil && bytes.Equal(buf[:n], testFrame(1, 60))
	})
	c := newWire(t, "c", 1)
	z := mustOpen(t, r.u, c.near, 0, Options{RingSize: 64, Port: 9})
	z.Service()
	c.steer(t, z)
	var b frame.Batch
	c.inject(t, testFrame(2, 300))
	until(t, "a frame from the new port", func() bool { return forward(t, z, r.y, &b, 9) > 0 }, z)
	if got := r.b.expect(t); !bytes.Equal(got, testFrame(2, 300)) {
		t.Errorf("%x", got)
	}
	if n, err := r.u.Audit(); err != nil || n.Worker != 0 || n.Lost == 0 {
		t.Errorf("%+v, %v", n, err)
	}
}

// The interface goes away under the socket: nothing blocks, the failure is
// counted, and Close works.
func TestVethInterfaceGoes(t *testing.T) {
	r := newRig(t, 512, Options{RingSize: 64})
	setLink(t, r.b.near, netlink.LinkDel)
	a, _ := r.u.Get()
	b := frame.Batch{N: 1}
	b.F[0] = frame.Frame{Addr: a + 256, Data: r.u.Packet(a+256, 60)}
	if n := r.y.Send(&b, seq(1)); n != 1 {
		t.Fatal("an empty ring is full")
	}
	for range 100 {
		r.y.Service()
		r.y.Flush()
		b.N = 0
		r.y.Release(&b, seq(r.y.Receive(&b))) // what the kernel had said by itself
	}
	st, err := r.y.Stats()
	if err != nil || !errors.Is(st.LastError, unix.ENXIO) || st.Kicks > 20 {
		t.Errorf("%+v, %v", st, err)
	}
	audit(t, r.u, 0)
}

// With real calls, too, the loop allocates nothing.
func TestVethNoAllocation(t *testing.T) {
	r := newRig(t, 1024, Options{RingSize: 256})
	var b frame.Batch
	idx, data := seq(frame.BatchSize), testFrame(1, 200)
	moved := 0
	n := testing.AllocsPerRun(100, func() {
		for range 20 {
			_, _ = unix.Write(r.a.peer, data)
		}
		r.x.Service()
		r.y.Service()
		b.N = 0
		k := r.x.Receive(&b)
		m := r.y.Send(&b, idx[:k])
		r.y.Flush()
		r.x.Release(&b, idx[m:k])
		moved += m
	})
	if n != 0 || moved == 0 {
		t.Errorf("%v allocations a round, %d frames moved", n, moved)
	}
}

// In copy mode a full ring of full frames may be in flight: the send buffer has
// room for it.
func TestVethSendBuffer(t *testing.T) {
	r := newRig(t, 512, Options{RingSize: 2048})
	n, err := unix.GetsockoptInt(r.x.FD(), unix.SOL_SOCKET, unix.SO_SNDBUF)
	if err != nil || n < 2048*(4096+512) {
		t.Errorf("send buffer of %d, %v: want room for 2048 packets of a 4096-byte slab and a sk_buff", n, err)
	}
}

// What the kernel says when it refuses, in words.
func TestVethErrors(t *testing.T) {
	testenv.Namespace(t)
	w := newWire(t, "e", 1)
	other, err := umem.New(64, 2048)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	holder := mustOpen(t, other, w.near, 0, Options{RingSize: 64})
	defer holder.Close()
	for _, c := range []struct {
		name           string
		ifindex, queue int
		o              Options
		drop           uint // a capability taken away for the call
		e              unix.Errno
		want           string
	}{
		{"no interface", 9999, 0, Options{}, none, unix.ENODEV, "no such interface in this network namespace"},
		{"no queue", w.near, 7, Options{}, none, unix.EINVAL, "the port has no such queue"},
		{"no zero-copy", w.near, 0, Options{Mode: ModeZeroCopy}, none, unix.EOPNOTSUPP, "use copy mode"},
		{"taken", w.near, 0, Options{}, none, unix.EBUSY, "another AF_XDP socket has this queue"},
		{"not root", w.near, 0, Options{}, unix.CAP_NET_RAW, unix.EPERM, "run as root"},
		{"locked memory", w.near, 0, Options{}, unix.CAP_IPC_LOCK, unix.ENOBUFS, "raise RLIMIT_MEMLOCK"},
	} {
		u, err := umem.New(64, 2048)
		if err != nil {
			t.Fatal(err)
		}
		if c.e == unix.EOPNOTSUPP { // the queue has to be free for the driver to be asked
			if err := holder.Close(); err != nil {
				t.Fatal(err)
			}
		}
		fds, maps := kernelHas(t)
		restore := without(t, c.drop)
		s, err := Open(u, c.ifindex, c.queue, c.o)
		restore()
		if s != nil || !errors.Is(err, c.e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %v, %q", c.name, s, err, c.e, c.want)
		}
		if f, m := kernelHas(t); f != fds || m != maps {
			t.Errorf("%s: %d descriptors and %d mappings, before %d and %d", c.name, f, m, fds, maps)
		}
		if c.e == unix.EOPNOTSUPP {
			holder = mustOpen(t, other, w.near, 0, Options{RingSize: 64})
		}
		if err := u.Close(); err != nil {
			t.Error(err)
		}
	}
}

const none = ^uint(0)

// without takes a capability from the thread, and with CAP_IPC_LOCK most of the
// memory that may be locked. The test's goroutine is bound to its thread.
func without(t *testing.T, capability uint) (restore func()) {
	t.Helper()
	if capability == none {
		return func() {}
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		t.Fatal(err)
	}
	less := data
	less[capability/32].Effective &^= 1 << (capability % 32)
	if err := unix.Capset(&hdr, &less[0]); err != nil {
		t.Fatal(err)
	}
	var old unix.Rlimit
	if capability == unix.CAP_IPC_LOCK {
		if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
			t.Fatal(err)
		}
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: 4096, Max: old.Max}); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if err := unix.Capset(&hdr, &data[0]); err != nil {
			t.Fatal(err)
		}
		if capability == unix.CAP_IPC_LOCK {
			if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
				t.Fatal(err)
			}
		}
	}
}
