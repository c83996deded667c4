package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"weir/internal/testenv"
	"weir/netstack/status"
)

var both = []string{"10.2.0.2:7", "[2001:db8:2::2]:7"}

// carries sends datagrams and a stream each way over both families, and wants
// at least 95 % of the frames through the workers.
func carries(t *testing.T, l *lab) *status.Status {
	t.Helper()
	const n = 200
	for _, a := range both { // first packets are the kernel's: neighbours
		ok(t, ask(l.dial("udp", a), 0, 10*time.Second))
	}
	l.until("resolved", func(s *status.Status) bool { return s.Table.NextHops >= 4 })
	before := l.status()
	for _, a := range both {
		c := l.dial("udp", a)
		for i := range n {
			if err := ask(c, i, 10*time.Second); err != nil {
				t.Fatalf("%s: datagram %d: %v", a, i, err)
			}
		}
		stream(t, l, a, 1<<20)
	}
	after := l.status()
	w, k := after.Tiers["worker"]-before.Tiers["worker"], after.Tiers["kernel"]-before.Tiers["kernel"]
	if w < 4*n || w*5 < (w+k)*4 {
		t.Errorf("workers forwarded %d frames, the kernel took %d: %+v", w, k, after.Ports)
	}
	for _, x := range after.Workers {
		// A stream fills what stands between two workers when the second one has to
		// wait for its CPU: such drops are named, few, and TCP's to repair.
		drops := maps.Clone(x.Drops)
		if drops["no-buffer"]*20 < x.HandedOver {
			delete(drops, "no-buffer")
		}
		if len(drops) != 0 {
			t.Errorf("worker %d dropped %v, handed over %d", x.ID, x.Drops, x.HandedOver)
		}
	}
	return after
}

// stream sends n bytes over TCP and wants them back: with the offloads that
// virtual links have by default, so that checksums and sizes have to be right.
func stream(t *testing.T, l *lab, addr string, n int) {
	t.Helper()
	c := l.dial("tcp", addr)
	want := make([]byte, n)
	for i := range want {
		want[i] = byte(i * 7 >> 3)
	}
	ok(t, c.SetDeadline(time.Now().Add(60*time.Second)))
	go func() { _, _ = c.Write(want) }()
	got := make([]byte, n)
	if _, err := io.ReadFull(c, got); err != nil {
		t.Fatalf("%s: %v", addr, err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: the stream came back changed", addr)
	}
	c.Close()
}

func TestForwards(t *testing.T) {
	l := newLab(t, shape{lan: 1, wan: 1})
	l.echo()
	l.start("-port", "lan", "-port", "wan")
	l.fast()
	s := carries(t, l)
	if s.XDP.JitedSize == 0 {
		t.Error("the steering program is interpreted")
	}
	for _, p := range s.Ports {
		if p.Tier != "afxdp" || p.Mode != "native" {
			t.Errorf("port %s: tier %s (%s), mode %s", p.Name, p.Tier, p.TierWhy, p.Mode)
		}
	}
	if err := l.end(syscall.SIGTERM); err != nil {
		t.Errorf("orderly end: %v", err)
	}
	l.router.do(func() {
		for _, n := range []string{"lan", "wan"} {
			k, err := netlink.LinkByName(n)
			ok(t, err)
			if x := k.Attrs().Xdp; x != nil && x.Attached {
				t.Errorf("%s still has an XDP program", n)
			}
		}
	})
	ok(t, ask(l.dial("udp", both[0]), 1, 10*time.Second))
}

// Two workers; one port has a TX queue for each, the other a single one: what
// the second worker sends there is handed over.
func TestHandsOver(t *testing.T) {
	l := newLab(t, shape{lan: 2, wan: 1})
	l.echo()
	l.start("-port", "lan", "-port", "wan")
	l.fast()
	s := carries(t, l)
	if len(s.Workers) != 2 {
		testenv.Missing(t, "two CPUs are needed: there are %d workers", len(s.Workers))
	}
	// A veth's RX queue is the sending CPU's: send from every CPU.
	deadline := time.Now().Add(20 * time.Second)
	for s.Workers[1].HandedOver == 0 {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := ask(l.dial("udp", both[0]), 1, 10*time.Second); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if s = l.status(); time.Now().After(deadline) {
			t.Fatalf("nothing was handed over: %+v", s.Workers)
		}
	}
}

// A route out of a port that stays with the kernel is the kernel's too: nothing is
// decided for a port that no worker can send to.
func TestMixedPair(t *testing.T) {
	l := newLab(t, shape{lan: 1, wan: 1})
	l.echo()
	l.start("-port", "lan", "-port", "wan=kernel")
	l.until("half fast", func(s *status.Status) bool { return s.XDP.Lease && s.Ports[0].Fast4 && s.Ports[0].Fast6 })
	for _, a := range both {
		c := l.dial("udp", a)
		for i := range 50 {
			ok(t, ask(c, i, 10*time.Second))
		}
		stream(t, l, a, 1<<18)
	}
	s := l.status()
	if s.Ports[1].Tier != "kernel" || s.Ports[0].Punts["out-slow"] < 100 {
		t.Errorf("wan is on tier %s, lan punted %v", s.Ports[1].Tier, s.Ports[0].Punts)
	}
	if w := s.Workers[0]; w.Forwarded != 0 || len(w.Drops) != 0 {
		t.Errorf("the worker forwarded %d and dropped %v", w.Forwarded, w.Drops)
	}
}

// In generic mode the steering program would see a punted frame again.
func TestGenericMode(t *testing.T) {
	l := newLab(t, shape{lan: 1, wan: 1, mtu: 5000}) // veth refuses native XDP
	l.echo()
	l.start("-port", "lan=afxdp", "-port", "wan=afxdp")
	l.fast()
	s := carries(t, l)
	for _, p := range s.Ports {
		if p.Mode != "generic" {
			t.Errorf("port %s: mode %q", p.Name, p.Mode)
		}
	}
	l.end(syscall.SIGTERM)
	// Unasked, generic mode is not taken: the kernel is the better forwarder then.
	l.start("-port", "lan", "-port", "wan")
	s = l.status()
	for _, p := range s.Ports {
		if p.Tier != "kernel" || !strings.Contains(p.TierWhy, "no native XDP") {
			t.Errorf("port %s: tier %s: %s", p.Name, p.Tier, p.TierWhy)
		}
	}
	ok(t, ask(l.dial("udp", both[0]), 1, 10*time.Second))
}

// What the kernel would ask somebody about goes to the kernel at once.
func TestKernelIsAsked(t *testing.T) {
	l := newLab(t, shape{lan: 1, wan: 1})
	l.echo()
	l.start("-port", "lan", "-port", "wan")
	l.fast()
	c := l.dial("udp", both[0])
	ok(t, ask(c, 0, 10*time.Second))
	l.router.do(func() { l.sysctl("ipv4/conf/lan/rp_filter", "1") })
	s := l.until("slow for rp_filter", func(s *status.Status) bool { return !s.Ports[0].Fast4 })
	if !strings.Contains(strings.Join(s.Ports[0].Slow, "\n"), "rp_filter") || !s.Ports[0].Fast6 {
		t.Errorf("reasons: %q, ipv6 fast: %v", s.Ports[0].Slow, s.Ports[0].Fast6)
	}
	before := s.Ports[0].Punts["port-slow"]
	ok(t, ask(c, 1, 10*time.Second))
	if s = l.status(); s.Ports[0].Punts["port-slow"] == before {
		t.Errorf("no frame was passed as port-slow: %v", s.Ports[0].Punts)
	}
	l.router.do(func() { l.sysctl("ipv4/conf/lan/rp_filter", "0") })
	l.fast()
	l.router.do(func() { l.sysctl("ipv4/conf/lan/forwarding", "0") })
	l.until("slow for forwarding", func(s *status.Status) bool { return !s.Ports[0].Fast4 })
	if err := ask(c, 2, 300*time.Millisecond); err == nil {
		t.Error("forwarded although forwarding is off")
	}
}

// Killed under load: the kernel carries on within a second, no link goes down,
// and the next forwarder takes the program over.
func TestKilled(t *testing.T) {
	l := newLab(t, shape{lan: 1, wan: 1})
	l.echo()
	l.start("-port", "lan", "-port", "wan")
	l.fast()
	c := l.dial("udp", both[0])
	ok(t, ask(c, 0, 10*time.Second))
	flaps := l.flaps()
	if err := l.end(syscall.SIGKILL); err == nil {
		t.Fatal("not killed")
	}
	killed := time.Now()
	for i := 1; ; i++ {
		if err := ask(c, i, 100*time.Millisecond); err == nil {
			break
		} else if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		if time.Since(killed) > 10*time.Second {
			t.Fatal("traffic does not go on through the kernel")
		}
	}
	t.Logf("through the kernel %v after the kill", time.Since(killed).Round(time.Millisecond))
	l.start("-port", "lan", "-port", "wan")
	l.fast()
	if s := carries(t, l); !s.XDP.TookOver {
		t.Error("the program was not taken over")
	}
	if n := l.flaps() - flaps; n != 0 {
		t.Errorf("the links' carrier changed %d times", n)
	}
}

// flaps sums the carrier changes of both ports.
func (l *lab) flaps() (n uint32) {
	l.router.do(func() {
		for _, name := range []string{"lan", "wan"} {
			k, err := netlink.LinkByName(name)
			ok(l.t, err)
			n += carrierChanges(l.t, k)
		}
	})
	return n
}

// A second forwarder is refused, and the first one goes on as if nothing had been.
func TestSecondForwarder(t *testing.T) {
	l := newLab(t, shape{lan: 1, wan: 1})
	l.echo()
	l.start("-port", "lan", "-port", "wan")
	l.fast()
	programs := l.programs()
	exe, err := os.Executable()
	ok(t, err)
	for _, socket := range []string{l.socket, l.socket + "2"} {
		cmd := exec.Command(exe, "-socket", socket, "-bpffs", l.dir+"/weir", "-port", "lan", "-port", "wan")
		cmd.Env = append(os.Environ(), "WEIR_TEST_FORWARDER=1")
		var out []byte
		l.router.do(func() { out, err = cmd.CombinedOutput() })
		if err == nil || !strings.Contains(string(out), "another forwarder") {
			t.Errorf("second forwarder on %s: %v, %s", socket, err, out)
		}
	}
	carries(t, l)
	if now := l.programs(); !maps.Equal(now, programs) {
		t.Errorf("programs by interface were %v and are %v", programs, now)
	}
}

// Two ports swap their names: their programs stay, and traffic goes on.
func TestNamesSwap(t *testing.T) {
	l := newLab(t, shape{lan: 1, wan: 1})
	l.echo()
	l.start("-port", "lan", "-port", "wan")
	l.fast()
	carries(t, l)
	was := l.status().Ports
	programs := l.programs()
	l.router.do(func() {
		a, err := netlink.LinkByName("lan")
		ok(t, err)
		b, err := netlink.LinkByName("wan")
		ok(t, err)
		ok(t, netlink.LinkSetName(a, "tmp"))
		ok(t, netlink.LinkSetName(b, "lan"))
		ok(t, netlink.LinkSetName(a, "wan"))
	})
	l.until("swapped", func(s *status.Status) bool {
		return s.Ports[0].IfIndex == was[1].IfIndex && s.Ports[1].IfIndex == was[0].IfIndex
	})
	l.fast()
	carries(t, l)
	if now := l.programs(); !maps.Equal(now, programs) {
		t.Errorf("programs by interface were %v and are %v", programs, now)
	}
}

// programs are the ids of the XDP programs by interface index.
func (l *lab) programs() map[int]uint32 {
	ids := map[int]uint32{}
	l.router.do(func() {
		links, err := netlink.LinkList()
		ok(l.t, err)
		for _, k := range links {
			if x := k.Attrs().Xdp; x != nil && x.Attached {
				ids[k.Attrs().Index] = x.ProgId
			}
		}
	})
	return ids
}

// A port that goes away takes only itself along, and is carried again when it
// comes back.
func TestPortGoesAndComes(t *testing.T) {
	l := newLab(t, shape{lan: 1, wan: 1})
	l.echo()
	l.start("-port", "lan", "-port", "wan")
	l.fast()
	l.router.do(func() {
		k, err := netlink.LinkByName("wan")
		ok(t, err)
		ok(t, netlink.LinkDel(k))
	})
	s := l.until("gone", func(s *status.Status) bool { return s.Ports[1].IfIndex == 0 })
	if s.Ports[0].Tier != "afxdp" || s.Ports[1].Tier != "kernel" {
		t.Errorf("tiers: %s, %s (%s)", s.Ports[0].Tier, s.Ports[1].Tier, s.Ports[1].TierWhy)
	}
	l.router.do(func() {
		l.cable("wan", 1, 0, l.server)
		address(t, "wan", "10.2.0.1/24", "2001:db8:2::1/64")
	})
	l.server.do(func() {
		up(t, "e0")
		address(t, "e0", "10.2.0.2/24", "2001:db8:2::2/64")
		route(t, "10.2.0.1")
		route(t, "2001:db8:2::1")
	})
	l.fast()
	carries(t, l)
}
