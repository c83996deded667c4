package xsk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"weir/internal/testenv"
	"weir/netstack/frame"
)

// testType is a local experimental EtherType (IEEE 802), which nobody else on
// the wire speaks.
const testType = 0x88b5

// wire is one port of the test: a veth pair whose near end has the XDP program
// and sockets, and whose far end is a packet socket.
type wire struct {
	near, far int // interface indices
	xsks      *ebpf.Map
	peer      int // packet socket on far
}

// newWire makes a veth pair NAME0/NAME1 with queues queues in the test's
// namespace.
func newWire(t *testing.T, name string, queues int) *wire {
	t.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.NumTxQueues, attrs.NumRxQueues = name+"0", queues, queues
	v := &netlink.Veth{LinkAttrs: attrs, PeerName: name + "1", PeerNumTxQueues: uint32(queues), PeerNumRxQueues: uint32(queues)}
	if err := netlink.LinkAdd(v); err != nil {
		t.Fatalf("veth %s: %v", name, err)
	}
	w := &wire{}
	for i, p := range []*int{&w.near, &w.far} {
		l, err := netlink.LinkByName(fmt.Sprintf("%s%d", name, i))
		if err != nil {
			t.Fatal(err)
		}
		if err := netlink.LinkSetUp(l); err != nil {
			t.Fatal(err)
		}
		*p = l.Attrs().Index
	}
	w.attach(t, queues)
	w.peer = packetSocket(t, w.far)
	return w
}

// attach puts the smallest program that steers: redirect to the socket of the
// queue, or pass.
func (w *wire) attach(t *testing.T, queues int) {
	t.Helper()
	if err := rlimit.RemoveMemlock(); err != nil {
		testenv.Missing(t, "memory cannot be locked (%v): run as root", err)
	}
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.XSKMap, KeySize: 4, ValueSize: 4, MaxEntries: uint32(queues)})
	if errors.Is(err, unix.EPERM) {
		testenv.Missing(t, "no BPF here (%v): run as root", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "BSD", Instructions: asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, 16, asm.Word), // xdp_md.rx_queue_index
		asm.LoadMapPtr(asm.R1, m.FD()),
		asm.Mov.Imm(asm.R3, 2), // XDP_PASS when the slot is empty
		asm.FnRedirectMap.Call(),
		asm.Return(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	l, err := link.AttachXDP(link.XDPOptions{Program: p, Interface: w.near, Flags: link.XDPDriverMode})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	w.xsks = m
}

// steer lets the program redirect to the socket.
func (w *wire) steer(t *testing.T, s *Socket) {
	t.Helper()
	if err := w.xsks.Put(uint32(s.Queue()), uint32(s.FD())); err != nil {
		t.Fatalf("XSKMAP: %v", err)
	}
}

// protocol is an EtherType in network byte order, as packet(7) wants it.
func protocol(etherType uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, etherType))
}

func packetSocket(t *testing.T, ifindex int) int {
	t.Helper()
	proto := protocol(testType)
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, int(proto))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 16<<20); err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: proto, Ifindex: ifindex}); err != nil {
		t.Fatal(err)
	}
	return fd
}

// testFrame is a frame of n bytes whose content follows from seq.
func testFrame(seq uint32, n int) []byte {
	b := make([]byte, n)
	copy(b, net.HardwareAddr{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2})
	binary.BigEndian.PutUint16(b[12:], testType)
	binary.BigEndian.PutUint32(b[14:], seq)
	for i := 18; i < n; i++ {
		b[i] = byte(uint32(i)*7 + seq*31)
	}
	return b
}

// isTest tells the test's frames from what the kernel sends by itself (MLD…).
func isTest(b []byte) bool {
	return len(b) >= 18 && binary.BigEndian.Uint16(b[12:]) == testType
}

// inject sends b into the wire from the far end.
func (w *wire) inject(t *testing.T, b []byte) {
	t.Helper()
	if _, err := unix.Write(w.peer, b); err != nil {
		t.Fatalf("inject: %v", err)
	}
}

// expect reads one frame at the far end, within a deadline.
func (w *wire) expect(t *testing.T) []byte {
	t.Helper()
	buf := make([]byte, 4096)
	fds := []unix.PollFd{{Fd: int32(w.peer), Events: unix.POLLIN}}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		n, err := unix.Read(w.peer, buf)
		if err == nil {
			return buf[:n]
		}
		if err != unix.EAGAIN && err != unix.EINTR {
			t.Fatal(err)
		}
		_, _ = unix.Poll(fds, 100)
	}
	t.Fatal("no frame arrived at the far end")
	return nil
}

// until calls step until it reports true, polling the sockets in between.
func until(t *testing.T, what string, step func() bool, socks ...*Socket) {
	t.Helper()
	fds := make([]unix.PollFd, len(socks))
	for deadline := time.Now().Add(10 * time.Second); ; {
		if step() {
			return
		}
		if time.Now().After(deadline) {
			for _, s := range socks {
				st, _ := s.Stats()
				t.Logf("queue %d: %+v", s.queue, st)
			}
			t.Fatalf("waited 10 s for: %s", what)
		}
		for i, s := range socks {
			fds[i] = unix.PollFd{Fd: int32(s.FD()), Events: unix.POLLIN}
		}
		_, _ = unix.Poll(fds, 20)
	}
}

// pickTest receives and keeps the test's frames, releasing the others.
func pickTest(s *Socket, b *frame.Batch) []uint8 {
	from := b.N
	s.Receive(b)
	var keep, drop []uint8
	for i := from; i < b.N; i++ {
		if isTest(b.F[i].Data) {
			keep = append(keep, uint8(i))
		} else {
			drop = append(drop, uint8(i))
		}
	}
	s.Release(b, drop)
	return keep
}
