package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"weir/internal/testenv"
	"weir/netstack/status"
)

// The tests run the forwarder as a process of its own: this very binary, told by
// the environment to be it.
func TestMain(m *testing.M) {
	if os.Getenv("WEIR_TEST_FORWARDER") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// host is a network namespace with a thread in it.
type host struct {
	work chan func()
	fd   int
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{work: make(chan func())}
	start := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			h.fd, err = unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		}
		start <- err
		for f := range h.work {
			f()
		}
	}()
	if err := <-start; err != nil {
		testenv.Missing(t, "no new network namespace (%v): run as root", err)
	}
	t.Cleanup(func() { close(h.work); unix.Close(h.fd) })
	h.do(func() { up(t, "lo") })
	return h
}

// do runs f in the namespace and waits for it.
func (h *host) do(f func()) {
	done := make(chan struct{})
	h.work <- func() { defer close(done); f() }
	<-done
}

// lab is client (10.1.0.2, 2001:db8:1::2) — lan router wan — server (10.2.0.2,
// 2001:db8:2::2), the router being a namespace with a forwarder in it.
type lab struct {
	t                      *testing.T
	client, router, server *host
	dir, socket            string
	cmd                    *exec.Cmd
	log                    lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// queues of the router's two ports, and their MTU.
type shape struct{ lan, wan, mtu int }

func newLab(t *testing.T, s shape) *lab {
	t.Helper()
	l := &lab{t: t, client: newHost(t), router: newHost(t), server: newHost(t), dir: t.TempDir()}
	l.socket = filepath.Join(l.dir, "s.sock")
	l.router.do(func() {
		l.cable("lan", s.lan, s.mtu, l.client)
		l.cable("wan", s.wan, s.mtu, l.server)
		for _, p := range []string{"ipv4/ip_forward", "ipv6/conf/all/forwarding"} {
			l.sysctl(p, "1")
		}
		l.sysctl("ipv4/conf/all/rp_filter", "0")
		l.sysctl("ipv4/conf/lan/rp_filter", "0")
		l.sysctl("ipv4/conf/wan/rp_filter", "0")
		address(t, "lan", "10.1.0.1/24", "2001:db8:1::1/64")
		address(t, "wan", "10.2.0.1/24", "2001:db8:2::1/64")
	})
	ends := func(h *host, v4, v6, gw4, gw6 string) {
		h.do(func() {
			up(t, "e0")
			address(t, "e0", v4, v6)
			route(t, gw4)
			route(t, gw6)
		})
	}
	ends(l.client, "10.1.0.2/24", "2001:db8:1::2/64", "10.1.0.1", "2001:db8:1::1")
	ends(l.server, "10.2.0.2/24", "2001:db8:2::2/64", "10.2.0.1", "2001:db8:2::1")
	if err := unix.Mount("bpf", l.dir, "bpf", 0, ""); err != nil {
		testenv.Missing(t, "mount a bpffs: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(l.dir, unix.MNT_DETACH) })
	l.socket = filepath.Join(t.TempDir(), "s.sock")
	return l
}

// cable makes the veth pair NAME here, e0 at the host's end.
func (l *lab) cable(name string, queues, mtu int, far *host) {
	l.t.Helper()
	if mtu == 0 {
		mtu = 1500
	}
	v := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name, MTU: mtu, NumRxQueues: queues, NumTxQueues: queues}, PeerName: "e0",
		PeerMTU: uint32(mtu), PeerNumRxQueues: uint32(queues), PeerNumTxQueues: uint32(queues), PeerNamespace: netlink.NsFd(far.fd)}
	ok(l.t, netlink.LinkAdd(v))
	up(l.t, name)
}

// start runs the forwarder in the router and waits until it is ready.
func (l *lab) start(args ...string) {
	l.t.Helper()
	exe, err := os.Executable()
	ok(l.t, err)
	cmd := exec.Command(exe, append([]string{"-socket", l.socket, "-bpffs", l.dir + "/weir"}, args...)...)
	cmd.Env = append(os.Environ(), "WEIR_TEST_FORWARDER=1")
	cmd.Stderr = &l.log
	out, err := cmd.StdoutPipe()
	ok(l.t, err)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	l.router.do(func() { err = cmd.Start() })
	ok(l.t, err)
	l.cmd = cmd
	ready := make(chan bool, 1)
	go func() {
		s := bufio.NewScanner(out)
		ready <- s.Scan() && s.Text() == "ready"
	}()
	select {
	case r := <-ready:
		if !r {
			_ = cmd.Wait()
			l.t.Fatalf("the forwarder ended: %s", l.log.String())
		}
	case <-time.After(60 * time.Second):
		l.t.Fatalf("the forwarder is not ready: %s", l.log.String())
	}
	l.t.Cleanup(func() {
		l.end(syscall.SIGTERM)
		if l.t.Failed() {
			l.t.Logf("forwarder's log:\n%s", l.log.String())
		}
	})
}

// end signals the forwarder, if it runs, and waits for its end.
func (l *lab) end(sig syscall.Signal) error {
	if l.cmd == nil {
		return nil
	}
	cmd := l.cmd
	l.cmd = nil
	_ = cmd.Process.Signal(sig)
	return cmd.Wait()
}

// status asks the forwarder.
func (l *lab) status() *status.Status {
	l.t.Helper()
	s, err := status.Read(l.socket)
	if err != nil {
		l.t.Fatalf("%v\n%s", err, l.log.String())
	}
	return s
}

// until waits for a condition on the status.
func (l *lab) until(what string, f func(*status.Status) bool) *status.Status {
	l.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s := l.status()
		if f(s) {
			return s
		}
		if time.Now().After(end) {
			b, _ := json.MarshalIndent(s, "", " ")
			l.t.Fatalf("never %s:\n%s\n%s", what, b, l.log.String())
		}
	}
}

// fast waits until both ports carry both families.
func (l *lab) fast() {
	l.t.Helper()
	l.until("fast", func(s *status.Status) bool {
		for _, p := range s.Ports {
			if !p.Fast4 || !p.Fast6 {
				return false
			}
		}
		return s.XDP.Lease
	})
}

func (l *lab) sysctl(path, value string) {
	l.t.Helper()
	ok(l.t, os.WriteFile("/proc/sys/net/"+path, []byte(value), 0))
}

// echo is a UDP and TCP server at the lab's server that sends everything back.
func (l *lab) echo() {
	l.t.Helper()
	for _, a := range []string{"10.2.0.2:7", "[2001:db8:2::2]:7"} {
		var pc net.PacketConn
		var ln net.Listener
		var err, err2 error
		l.server.do(func() {
			pc, err = net.ListenPacket("udp", a)
			ln, err2 = net.Listen("tcp", a)
		})
		ok(l.t, err)
		ok(l.t, err2)
		l.t.Cleanup(func() { pc.Close(); ln.Close() })
		go func() {
			b := make([]byte, 65536)
			for {
				n, from, err := pc.ReadFrom(b)
				if err != nil {
					return
				}
				_, _ = pc.WriteTo(b[:n], from)
			}
		}()
		go func() {
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					_, _ = bufio.NewReader(c).WriteTo(c)
				}()
			}
		}()
	}
}

// dial connects the client to an echo server.
func (l *lab) dial(network, addr string) net.Conn {
	l.t.Helper()
	var c net.Conn
	var err error
	l.client.do(func() { c, err = net.DialTimeout(network, addr, 10*time.Second) })
	ok(l.t, err)
	l.t.Cleanup(func() { c.Close() })
	return c
}

// ask sends one datagram and waits for its echo.
func ask(c net.Conn, n int, wait time.Duration) error {
	m := []byte(fmt.Sprintf("datagram %d", n))
	if _, err := c.Write(m); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return err
	}
	b := make([]byte, 100)
	k, err := c.Read(b)
	if err != nil {
		return err
	}
	if !bytes.Equal(b[:k], m) {
		return fmt.Errorf("sent %q, got %q back", m, b[:k])
	}
	return nil
}

func up(t *testing.T, name string) {
	t.Helper()
	l, err := netlink.LinkByName(name)
	ok(t, err)
	ok(t, netlink.LinkSetUp(l))
}

func address(t *testing.T, name string, addrs ...string) {
	t.Helper()
	l, err := netlink.LinkByName(name)
	ok(t, err)
	for _, a := range addrs {
		n, err := netlink.ParseAddr(a)
		ok(t, err)
		n.Flags = unix.IFA_F_NODAD
		ok(t, netlink.AddrAdd(l, n))
	}
}

// route makes gw the default route.
func route(t *testing.T, gw string) {
	t.Helper()
	ok(t, netlink.RouteAdd(&netlink.Route{Gw: net.ParseIP(gw)}))
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
