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

// Case A12 b on a real kernel: the worker is away, the kernel counts what it had
// no frame for, and reception resumes.
func TestVethStarvation(t *testing.T) {
	r := newRig(t, 512, Options{RingSize: 64})
	const sent = 400
	for i := range uint32(sent) {
		r.a.inject(t, testFrame(i, 60))
	}
	until(t, "the kernel to run out of frames", func() bool {
		st, err := r.x.Stats()
		return err == nil && st.RXFillEmpty+st.RXRingFull > 0
	})
	if n := r.x.rx.Waiting(); n > 64 {
		t.Fatalf("%d frames wait on a ring of 64", n)
	}
	var b frame.Batch
	got := 0
	until(t, "reception to resume", func() bool {
		r.x.Service()
		b.N = 0
		n := r.x.Receive(&b)
		got += n
		last := false
		for i := range n {
			last = last || bytes.Equal(b.F[i].Data, testFrame(1<<20, 60))
		}
		r.x.Release(&b, seq(n))
		if n == 0 {
			r.a.inject(t, testFrame(1<<20, 60))
		}
		return last
	}, r.x)
	st, err := r.x.Stats()
	if err != nil || st.RXFrames != uint64(got) || st.RXFillEmpty+st.RXRingFull < sent-300 {
		t.Errorf("%d received, %+v, %v", got, st, err)
	}
	audit(t, r.u, 0)
}

func setLink(t *testing.T, ifindex int, set func(netlink.Link) error) {
	t.Helper()
	l, err := netlink.LinkByIndex(ifindex)
	if err != nil {
		t.Fatal(err)
	}
	if err := set(l); err != nil {
		t.Fatal(err)
	}
}

// Case A12 c on a real kernel: the link is down, the TX ring fills, what does not
// fit stays the caller's; once the link is up the queued frames leave.
func TestVethTransmitFull(t *testing.T) {
	r := newRig(t, 1024, Options{RingSize: 32})
	setLink(t, r.b.near, netlink.LinkSetDown)
	var b frame.Batch
	for i := range 64 {
		a, _ := r.u.Get()
		b.F[i] = frame.Frame{Addr: a + 256, Data: r.u.Packet(a+256, 60)}
		copy(b.F[i].Data, testFrame(uint32(i), 60))
		b.N++
	}
	if n := r.y.Send(&b, seq(64)); n != 32 {
		t.Fatalf("took %d frames into a ring of 32", n)
	}
	r.y.Flush()
	if n := r.y.Send(&b, seq(64)[32:]); n != 0 {
		t.Fatalf("took %d frames into a full ring", n)
	}
	audit(t, r.u, 32)
	st, err := r.y.Stats()
	if err != nil || !errors.Is(st.LastError, unix.ENETDOWN) || st.Errors == 0 {
		t.Errorf("%+v, %v", st, err)
	}
	setLink(t, r.b.near, netlink.LinkSetUp)
	left := seq(64)[32:]
	until(t, "all frames to leave", func() bool {
		r.y.Service()
		left = left[r.y.Send(&b, left):]
		r.y.Flush()
		return len(left) == 0 && r.y.tx.Pending() == 0
	})
	for i := range 64 {
		if got := r.b.expect(t); !bytes.Equal(got, testFrame(uint32(i), 60)) {
			t.Fatalf("frame %d: %x", i, got)
		}
	}
	audit(t, r.u, 0)
}

// A queue at or above the port's real TX queues takes frames and never sends
// them: Flush ends, the calls get rare, and the frames held are bounded.
func TestVethDeadTransmitQueue(t *testing.T) {
	testenv.Namespace(t)
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.NumTxQueues, attrs.NumRxQueues = "d0", 1, 2
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: "d1", PeerNumTxQueues: 2, PeerNumRxQueues: 1}); err != nil {
		t.Fatal(err)
	}
	l, err := netlink.LinkByName("d0")
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.LinkSetUp(l); err != nil {
		t.Fatal(err)
	}
	u, err := umem.New(256, 2048)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	s, err := Open(u, l.Attrs().Index, 1, Options{RingSize: 128})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b frame.Batch
	taken := 0
	for range 500 {
		s.Service()
		a, ok := u.Get()
		if !ok {
			t.Fatal("the dead queue has eaten all frames")
		}
		b.F[0] = frame.Frame{Addr: a + 256, Data: u.Packet(a+256, 60)}
		b.N = 1
		n := s.Send(&b, seq(1))
		s.Flush()
		s.Release(&b, seq(1)[n:])
		taken += n
	}
	st, err := s.Stats()
	if err != nil || taken != u.Quota() || st.Completed != 0 || st.Kicks > 40 || st.Kicks < 3 {
		t.Errorf("took %d (share %d); %+v, %v", taken, u.Quota(), st, err)
	}
	audit(t, u, 0)
}

// A packet longer than Usable is the kernel's to drop and to count; one of
// exactly that length arrives.
func TestVethLongestPacket(t *testing.T) {
	r := newRig(t, 256, Options{RingSize: 64})
	for _, i := range []int{r.a.near, r.a.far} {
		setLink(t, i, func(l netlink.Link) error { return netlink.LinkSetMTU(l, 3000) })
	}
	r.a.inject(t, testFrame(1, r.u.Usable()+1))
	r.a.inject(t, testFrame(2, r.u.Usable()))
	var b frame.Batch
	until(t, "the longest packet", func() bool { return len(pickTest(r.x, &b)) > 0 }, r.x)
	if f := b.F[b.N-1]; !bytes.Equal(f.Data, testFrame(2, r.u.Usable())) || f.Addr != r.u.Base(f.Addr)+256 || cap(f.Data) != len(f.Data) {
		t.Errorf("%d bytes (capacity %d) at %#x", len(f.Data), cap(f.Data), f.Addr)
	}
	if st, err := r.x.Stats(); err != nil || st.RXDropped != 1 {
		t.Errorf("%+v, %v", st, err)
	}
}

// The UMEM's own headroom comes on top of the kernel's.
func TestVethHeadroom(t *testing.T) {
	testenv.Namespace(t)
	w := newWire(t, "h", 1)
	u, err := umem.NewConfig(umem.Config{Frames: 128, Size: 4096, Headroom: 128})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	s := mustOpen(t, u, w.near, 0, Options{RingSize: 64})
	defer s.Close()
	s.Service()
	w.steer(t, s)
	w.inject(t, testFrame(7, 500))
	var b frame.Batch
	until(t, "a packet", func() bool { return len(pickTest(s, &b)) > 0 }, s)
	f := b.F[b.N-1]
	if f.Addr != u.Base(f.Addr)+256+128 || !bytes.Equal(f.Data, testFrame(7, 500)) {
		t.Errorf("at %#x: %x", f.Addr, f.Data)
	}
}

// udpFrame is a frame of flow number flow.
func udpFrame(flow byte) []byte {
	b := make([]byte, 60)
	copy(b, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 198, 18, 0, 1, 198, 18, 1, 1})
	b[34], b[35], b[37], b[39] = 4, flow, 9, 26
	return b
}

// Two queues of one port on one UMEM: every frame arrives once, on one of the
// two sockets, and both are used.
func TestVethQueues(t *testing.T) {
	testenv.Namespace(t)
	w := newWire(t, "q", 2)
	u, err := umem.New(512, 2048)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	var s [2]*Socket
	for q := range s {
		s[q] = mustOpen(t, u, w.near, q, Options{RingSize: 64})
		defer s[q].Close()
	}
	for q := range s {
		s[q].Service()
		w.steer(t, s[q])
	}
	// The sender's kernel spreads flows over its TX queues by hash, and veth
	// receives on the queue that was sent on.
	const flows = 64
	seen := map[byte]int{}
	for i := range byte(flows) {
		if err := unix.Sendto(w.peer, udpFrame(i), 0, &unix.SockaddrLinklayer{Protocol: protocol(unix.ETH_P_IP), Ifindex: w.far}); err != nil {
			t.Fatal(err)
		}
	}
	var got [2]int
	until(t, "64 flows on two queues", func() bool {
		for q := range s {
			var b frame.Batch
			s[q].Receive(&b)
			for i := range b.N {
				if f := b.F[i].Data; len(f) == 60 && bytes.Equal(f, udpFrame(f[35])) {
					seen[f[35]]++
					got[q]++
				}
			}
			s[q].Release(&b, seq(b.N))
		}
		return len(seen) == flows
	}, s[0], s[1])
	if got[0] == 0 || got[1] == 0 || got[0]+got[1] != flows {
		t.Errorf("%d flows arrived as %v frames on the two queues", flows, got)
	}
	// A queue cannot be taken twice.
	_, err = Open(u, w.near, 1, Options{RingSize: 64})
	if !errors.Is(err, unix.EBUSY) || !strings.Contains(err.Error(), "another AF_XDP socket has this queue") {
		t.Errorf("same queue, same memory: %v", err)
	}
}
