package xdp

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"weir/internal/testenv"
	"weir/netstack/frame"
)

//go:embed bpf/weir.h
var weirH string // embedded: the test runs in guests too, without the tree

// The C and the Go list of reasons are one list.
func TestReasonsMatchHeader(t *testing.T) {
	_, body, _ := strings.Cut(weirH, "enum weir_reason {")
	body, _, _ = strings.Cut(body, "WEIR_REASONS")
	n := 0
	for _, w := range strings.FieldsFunc(body, func(r rune) bool { return strings.ContainsRune(" \t\n,=0", r) }) {
		want := "WEIR_" + strings.ToUpper(strings.ReplaceAll(frame.Reason(n).String(), "-", "_"))
		if w != want {
			t.Errorf("reason %d is %s in C and %s in Go", n, w, want)
		}
		n++
	}
	if n != int(frame.ReasonNoSocket)+1 {
		t.Errorf("C has %d reasons, Go %d punts", n, int(frame.ReasonNoSocket)+1)
	}
}

var portMAC = [6]byte{2, 0, 0, 0, 0, 1}

// ip4 is a valid 64-byte frame to the port with 20+8+n bytes of IPv4.
func ip4(change func(ip []byte)) []byte {
	f := make([]byte, 64)
	copy(f, portMAC[:])
	copy(f[6:], []byte{2, 0, 0, 0, 0, 9, 8, 0})
	ip := f[14:]
	ip[0], ip[8], ip[9] = 0x45, 64, 17
	binary.BigEndian.PutUint16(ip[2:], 46)
	copy(ip[12:], []byte{10, 1, 0, 2, 10, 2, 1, 7})
	if change != nil {
		change(ip)
	}
	if ip[10] == 0 && ip[11] == 0 {
		var s uint32
		for i := 0; i < 20; i += 2 {
			s += uint32(binary.BigEndian.Uint16(ip[i:]))
		}
		s = s&0xffff + s>>16
		s = s&0xffff + s>>16
		binary.BigEndian.PutUint16(ip[10:], ^uint16(s))
	}
	return f
}

func ip6(change func(ip []byte)) []byte {
	f := make([]byte, 14+40+20)
	copy(f, portMAC[:])
	copy(f[6:], []byte{2, 0, 0, 0, 0, 9, 0x86, 0xdd})
	ip := f[14:]
	ip[0], ip[5], ip[6], ip[7] = 0x60, 20, 17, 64
	s, d := netip.MustParseAddr("2001:db8:1::2").As16(), netip.MustParseAddr("2001:db8:2::7").As16()
	copy(ip[8:], s[:])
	copy(ip[24:], d[:])
	if change != nil {
		change(ip)
	}
	return f
}

func v6(s string) []byte { a := netip.MustParseAddr(s).As16(); return a[:] }

// TestSteer runs the program on one frame of each kind and looks at the reason
// it counts. A frame for a worker ends as no-socket here: there is none.
func TestSteer(t *testing.T) {
	tab, prog := load(t)
	out := NextHop{IfIndex: 77, MTU: 1000}
	must(t, tab.SetNextHop(1, out))
	must(t, tab.SetNextHop(2, NextHop{Reason: frame.ReasonUnresolved}))
	must(t, tab.SetNextHop(3, NextHop{Reason: frame.ReasonLocal}))
	must(t, tab.SetNextHop(4, NextHop{IfIndex: 5, MTU: 1500}))
	must(t, tab.SetRoutes([]Route{
		{Prefix: netip.MustParsePrefix("10.2.0.0/16"), ID: 1}, {Prefix: netip.MustParsePrefix("2001:db8:2::/48"), ID: 1},
		{Prefix: netip.MustParsePrefix("10.3.0.0/16"), ID: 2}, {Prefix: netip.MustParsePrefix("10.1.0.1/32"), ID: 3},
		{Prefix: netip.MustParsePrefix("10.4.0.0/16"), ID: 4},
	}))
	must(t, tab.SetOwn([]netip.Addr{netip.MustParseAddr("10.1.0.1"), netip.MustParseAddr("2001:db8:1::1")}))
	cases := []struct {
		name string
		f    []byte
		want frame.Reason
	}{
		{"ipv4", ip4(nil), frame.ReasonNoSocket},
		{"ipv6", ip6(nil), frame.ReasonNoSocket},
		{"ttl 2", ip4(func(ip []byte) { ip[8] = 2 }), frame.ReasonNoSocket},
		{"ttl 1", ip4(func(ip []byte) { ip[8] = 1 }), frame.ReasonTTL},
		{"ttl 0", ip4(func(ip []byte) { ip[8] = 0 }), frame.ReasonTTL},
		{"hop limit 1", ip6(func(ip []byte) { ip[7] = 1 }), frame.ReasonTTL},
		{"arp", raw(ip4(nil), 12, 8, 6), frame.ReasonNotIP},
		{"vlan", raw(ip4(nil), 12, 0x81, 0), frame.ReasonTagged},
		{"broadcast", raw(ip4(nil), 0, 255, 255, 255, 255, 255, 255), frame.ReasonMulticast},
		{"other host", raw(ip4(nil), 5, 0x99), frame.ReasonOtherHost},
		{"options", ip4(func(ip []byte) { ip[0] = 0x46 }), frame.ReasonOptions},
		{"ihl 4", ip4(func(ip []byte) { ip[0] = 0x44 }), frame.ReasonBadHeader},
		{"version 5", ip4(func(ip []byte) { ip[0] = 0x55 }), frame.ReasonBadHeader},
		{"total length 19", ip4(func(ip []byte) { ip[3] = 19 }), frame.ReasonBadHeader},
		{"total length 51 of 50", ip4(func(ip []byte) { ip[3] = 51 }), frame.ReasonBadHeader},
		{"checksum", ip4(func(ip []byte) { ip[10], ip[11] = 1, 2 }), frame.ReasonBadHeader},
		{"more fragments", ip4(func(ip []byte) { ip[6] = 0x20 }), frame.ReasonFragment},
		{"offset", ip4(func(ip []byte) { ip[7] = 9 }), frame.ReasonFragment},
		{"df", ip4(func(ip []byte) { ip[6] = 0x40 }), frame.ReasonNoSocket},
		{"from loopback", ip4(func(ip []byte) { ip[12] = 127 }), frame.ReasonScope},
		{"from zero", ip4(func(ip []byte) { copy(ip[12:], []byte{0, 0, 0, 0}) }), frame.ReasonScope},
		{"from multicast", ip4(func(ip []byte) { ip[12] = 224 }), frame.ReasonScope},
		{"to multicast", ip4(func(ip []byte) { ip[16] = 224 }), frame.ReasonScope},
		{"to broadcast", ip4(func(ip []byte) { copy(ip[16:], []byte{255, 255, 255, 255}) }), frame.ReasonScope},
		{"from link-local", ip4(func(ip []byte) { copy(ip[12:], []byte{169, 254, 1, 1}) }), frame.ReasonNoSocket}, // as Linux does
		{"from own", ip4(func(ip []byte) { copy(ip[12:], []byte{10, 1, 0, 1}) }), frame.ReasonLocal},
		{"to own", ip4(func(ip []byte) { copy(ip[16:], []byte{10, 1, 0, 1}) }), frame.ReasonLocal},
		{"no route", ip4(func(ip []byte) { ip[16] = 11 }), frame.ReasonNoRoute},
		{"unresolved", ip4(func(ip []byte) { ip[17] = 3 }), frame.ReasonUnresolved},
		{"same port", ip4(func(ip []byte) { ip[17] = 4 }), frame.ReasonSamePort},
		{"too big", grow(ip4(func(ip []byte) { binary.BigEndian.PutUint16(ip[2:], 1001) }), 1015), frame.ReasonTooBig},
		{"just fits", grow(ip4(func(ip []byte) { binary.BigEndian.PutUint16(ip[2:], 1000) }), 1014), frame.ReasonNoSocket},
		{"longer than a buffer", grow(ip4(nil), 1801), frame.ReasonTooBig},
		{"cut", ip4(nil)[:14+19], frame.ReasonBadHeader},
		{"v6 cut", ip6(nil)[:14+39], frame.ReasonBadHeader},
		{"v6 length", ip6(func(ip []byte) { ip[5] = 21 }), frame.ReasonBadHeader},
		{"v6 hop-by-hop", ip6(func(ip []byte) { ip[6] = 0 }), frame.ReasonExtHeader},
		{"v6 fragment", ip6(func(ip []byte) { ip[6] = 44 }), frame.ReasonExtHeader},
		{"v6 from ::", ip6(func(ip []byte) { copy(ip[8:24], make([]byte, 16)) }), frame.ReasonScope},
		{"v6 from link-local", ip6(func(ip []byte) { copy(ip[8:], v6("fe80::1")) }), frame.ReasonScope},
		{"v6 to link-local", ip6(func(ip []byte) { copy(ip[24:], v6("fe80::1")) }), frame.ReasonScope},
		{"v6 to multicast", ip6(func(ip []byte) { copy(ip[24:], v6("ff02::fb")) }), frame.ReasonScope},
		{"v6 to loopback", ip6(func(ip []byte) { copy(ip[24:], v6("::1")) }), frame.ReasonScope},
		{"v6 from own", ip6(func(ip []byte) { copy(ip[8:], v6("2001:db8:1::1")) }), frame.ReasonNoSocket}, // as Linux does
		{"v6 no route", ip6(func(ip []byte) { copy(ip[24:], v6("2001:db8:3::1")) }), frame.ReasonNoRoute},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := reason(t, prog, c.f); got != c.want {
				t.Errorf("counted as %s, want %s", got, c.want)
			}
		})
	}
	t.Run("slow port", func(t *testing.T) {
		must(t, prog.SetPort(Port{Name: "t", IfIndex: 5, MAC: portMAC, MaxLen: 1800}))
		if got := reason(t, prog, ip4(nil)); got != frame.ReasonPortSlow {
			t.Errorf("ipv4: %s", got)
		}
		if got := reason(t, prog, ip6(nil)); got != frame.ReasonPortSlow {
			t.Errorf("ipv6: %s", got)
		}
	})
	t.Run("no lease", func(t *testing.T) {
		must(t, tab.Renew(-1))
		if got := reason(t, prog, ip4(nil)); got != frame.ReasonLease {
			t.Errorf("counted as %s", got)
		}
	})
	t.Run("deleted route", func(t *testing.T) {
		must(t, tab.Renew(time.Hour))
		must(t, prog.SetPort(Port{Name: "t", IfIndex: 5, MAC: portMAC, MaxLen: 1800, Fast4: true}))
		must(t, tab.SetRoutes([]Route{{Prefix: netip.MustParsePrefix("10.2.0.0/16"), Delete: true}}))
		if got := reason(t, prog, ip4(nil)); got != frame.ReasonNoRoute {
			t.Errorf("counted as %s", got)
		}
	})
}

// TestJited: an interpreted program on the packet path is a fault of the set-up.
func TestJited(t *testing.T) {
	_, prog := load(t)
	id, jited, err := prog.Info()
	must(t, err)
	if id == 0 || jited == 0 {
		t.Errorf("program id %d has %d bytes of native code: set net.core.bpf_jit_enable=1", id, jited)
	}
}

func TestRoutesInBatch(t *testing.T) {
	tab, prog := load(t)
	must(t, tab.SetNextHop(9, NextHop{IfIndex: 77, MTU: 1500}))
	var rs, del []Route
	for i := range 5000 {
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{20, byte(i >> 8), byte(i), 0}), 24)
		rs = append(rs, Route{Prefix: p, ID: 9})
		del = append(del, Route{Prefix: p, Delete: true})
	}
	to := func() frame.Reason {
		return reason(t, prog, ip4(func(ip []byte) { copy(ip[16:], []byte{20, 4999 >> 8, 4999 & 255, 1}) }))
	}
	must(t, tab.SetRoutes(rs))
	if got := to(); got != frame.ReasonNoSocket {
		t.Errorf("after adding: %s", got)
	}
	must(t, tab.SetRoutes(del))
	must(t, tab.SetRoutes(del)) // deleting twice is no fault
	if got := to(); got != frame.ReasonNoRoute {
		t.Errorf("after deleting: %s", got)
	}
}

// TestTakeOver: the program outlives its process, and the next one replaces it
// without taking it off the port.
func TestTakeOver(t *testing.T) {
	dir := bpffs(t)
	testenv.Namespace(t)
	veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "a0"}, PeerName: "a1"}
	must(t, netlink.LinkAdd(veth))
	l, err := netlink.LinkByName("a0")
	must(t, err)
	p := Port{Name: "a0", IfIndex: l.Attrs().Index, MAC: portMAC, MaxLen: 1800}

	start := func() (*Tables, *Program) {
		tab, err := NewTables()
		must(t, err)
		g, err := tab.Load(p)
		must(t, err)
		must(t, g.Attach(dir, Native))
		return tab, g
	}
	tab, g := start()
	if g.TookOver() || g.Mode() != Native {
		t.Errorf("first start: mode %q, took over %v", g.Mode(), g.TookOver())
	}
	first, err := deviceProgram(p.IfIndex)
	must(t, err)
	if first == 0 {
		t.Fatal("nothing is attached")
	}
	must(t, g.Close()) // as a killed process leaves it
	must(t, tab.Close())
	if id, _ := deviceProgram(p.IfIndex); id != first {
		t.Fatalf("program %d gone with its process (now %d)", first, id)
	}
	tab, g = start()
	if !g.TookOver() || g.Mode() != Native {
		t.Errorf("second start: mode %q, took over %v", g.Mode(), g.TookOver())
	}
	if id, _ := deviceProgram(p.IfIndex); id == first || id == 0 {
		t.Errorf("program %d was not replaced (now %d)", first, id)
	}

	// Somebody else's program stays, with a clear error.
	other, err := tab.Load(p)
	must(t, err)
	defer other.Close()
	if err := other.Attach(dir+"/other", Native, Generic); !errors.Is(err, ErrForeign) || !errors.Is(err, unix.EBUSY) {
		t.Errorf("attach over a foreign program: %v", err)
	}
	must(t, g.Detach())
	if id, _ := deviceProgram(p.IfIndex); id != 0 {
		t.Errorf("still attached after Detach: %d", id)
	}
	must(t, g.Close())

	// A pin whose device is gone is swept.
	_, g = start()
	must(t, g.Close())
	swept, err := Sweep(dir, func(int) bool { return false })
	must(t, err)
	if len(swept) != 1 || swept[0] != p.IfIndex {
		t.Errorf("swept %v", swept)
	}
	// The kernel frees an unlinked pin after a grace period.
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		id, err := deviceProgram(p.IfIndex)
		must(t, err)
		if id == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("still attached after Sweep: %d", id)
		}
	}
}

// TestForeign: a program that was put there without a link of ours.
func TestForeign(t *testing.T) {
	dir := bpffs(t)
	testenv.Namespace(t)
	must(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "a0"}, PeerName: "a1"}))
	l, err := netlink.LinkByName("a0")
	must(t, err)
	pass, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 2), asm.Return()}})
	must(t, err)
	defer pass.Close()
	foreign, err := link.AttachXDP(link.XDPOptions{Program: pass, Interface: l.Attrs().Index})
	must(t, err)
	defer foreign.Close()
	tab, err := NewTables()
	must(t, err)
	defer tab.Close()
	g, err := tab.Load(Port{Name: "a0", IfIndex: l.Attrs().Index})
	must(t, err)
	defer g.Close()
	err = g.Attach(dir, Native, Generic)
	if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "a0") {
		t.Errorf("attach: %v", err)
	}
}

// TestGenericOnly: lo has no native XDP.
func TestGenericOnly(t *testing.T) {
	dir := bpffs(t)
	testenv.Namespace(t)
	tab, err := NewTables()
	must(t, err)
	defer tab.Close()
	g, err := tab.Load(Port{Name: "lo", IfIndex: 1})
	must(t, err)
	defer g.Close()
	if err := g.Attach(dir, Native); !errors.Is(err, ErrNoNative) {
		t.Errorf("native on lo: %v", err)
	}
	must(t, g.Attach(dir, Native, Generic))
	if g.Mode() != Generic {
		t.Errorf("mode %q", g.Mode())
	}
	must(t, g.Detach())
}

func load(t *testing.T) (*Tables, *Program) {
	t.Helper()
	tab, err := NewTables()
	if errors.Is(err, unix.EPERM) {
		testenv.Missing(t, "no privilege for BPF: %v", err)
	}
	must(t, err)
	t.Cleanup(func() { tab.Close() })
	prog, err := tab.Load(Port{Name: "t", IfIndex: 5, MAC: portMAC, Fast4: true, Fast6: true, MaxLen: 1800})
	must(t, err)
	t.Cleanup(func() { prog.Close() })
	must(t, tab.Renew(time.Hour))
	return tab, prog
}

// bpffs mounts a bpffs of the test's own.
func bpffs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("bpf", dir, "bpf", 0, ""); err != nil {
		testenv.Missing(t, "mount a bpffs: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// reason runs the program on f and tells the counter that moved.
func reason(t *testing.T, g *Program, f []byte) frame.Reason {
	t.Helper()
	before, err := g.Counters()
	must(t, err)
	if ret, err := g.prog.Run(&ebpf.RunOptions{Data: append([]byte(nil), f...), DataOut: make([]byte, len(f)+64)}); err != nil {
		t.Fatal(err)
	} else if ret != 2 {
		t.Fatalf("verdict %d, want XDP_PASS", ret)
	}
	after, err := g.Counters()
	must(t, err)
	moved := frame.Reason(255)
	for i := range after {
		switch after[i] - before[i] {
		case 0:
		case 1:
			if moved != 255 {
				t.Fatalf("two counters moved: %s, %s", moved, frame.Reason(i))
			}
			moved = frame.Reason(i)
		default:
			t.Fatalf("%s moved by %d", frame.Reason(i), after[i]-before[i])
		}
	}
	return moved
}

func raw(f []byte, at int, b ...byte) []byte { copy(f[at:], b); return f }

func grow(f []byte, n int) []byte { return append(f, make([]byte, n-len(f))...) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
