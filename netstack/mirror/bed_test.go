package mirror

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"weir/internal/testenv"
	"weir/netstack/mirror/nl"
	"weir/netstack/snapshot"
)

// bed is a router in a network namespace of its own with a mirror on it: ports
// lan and wan, each one end of a veth pair whose other end (lanp, wanp) is up in
// the same namespace. It is set up through netlink alone, so that it works where
// there is neither ip nor tc nor nft.
type bed struct {
	*testing.T
	m       *Mirror
	changes chan struct{}
	logged  *bytes.Buffer // safe to read after the end of Run only
}

const deadline = 60 * time.Second

func newBed(t *testing.T, change func(*Config)) *bed {
	t.Helper()
	testenv.Namespace(t)
	b := &bed{T: t, changes: make(chan struct{}, 1), logged: new(bytes.Buffer)}
	b.sysctl("net/ipv6/conf/default/accept_dad", "0") // addresses are usable at once
	b.up("lo")
	for _, n := range []string{"lan", "wan"} {
		b.veth(n, n+"p")
		b.up(n)
		b.up(n + "p")
	}
	b.sysctl("net/ipv4/ip_forward", "1")
	b.sysctl("net/ipv6/conf/all/forwarding", "1")
	for _, a := range []string{"10.1.0.1/24 lan", "10.2.0.1/24 wan", "2001:db8:1::1/64 lan", "2001:db8:2::1/64 wan"} {
		b.addr(a)
	}
	cfg := Config{
		Ports: []string{"lan", "wan"},
		Log:   slog.New(slog.NewTextHandler(b.logged, nil)),
	}
	if change != nil {
		change(&cfg)
	}
	mine := cfg.OnChange
	cfg.OnChange = func(prev, next *snapshot.Snapshot, changed []netip.Prefix) {
		if mine != nil {
			mine(prev, next, changed)
		}
		select {
		case b.changes <- struct{}{}:
		default:
		}
	}
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.m = m
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return b
}

// wait waits until the newest snapshot fits.
func (b *bed) wait(what string, fits func(*snapshot.Snapshot) bool) {
	b.Helper()
	end := time.After(deadline)
	for {
		s := b.m.Current()
		if fits(s) {
			return
		}
		select {
		case <-b.changes:
		case <-time.After(50 * time.Millisecond): // for what no snapshot tells
		case <-end:
			b.Fatalf("still not so after %v: %s\n%s", deadline, what, describe(s))
		}
	}
}

func describe(s *snapshot.Snapshot) string {
	var w strings.Builder
	fmt.Fprintf(&w, "generation %d\n", s.Generation)
	for i, p := range s.Ports {
		fmt.Fprintf(&w, "port %d %+v\n", i, p)
	}
	n := 0
	for p, id := range s.FIB.All() {
		if n++; n > 100 {
			fmt.Fprintln(&w, "…")
			break
		}
		fmt.Fprintf(&w, "%v → %d %+v\n", p, id, s.NextHops[id])
	}
	return w.String()
}

// hop is what a snapshot answers for an address; ok is false without a route.
func hop(s *snapshot.Snapshot, addr string) (snapshot.NextHop, bool) {
	a := netip.MustParseAddr(addr)
	var id uint32
	var ok bool
	if a.Is4() {
		id, ok = s.FIB.Lookup4(a.As4())
	} else {
		id, ok = s.FIB.Lookup6(a.As16())
	}
	if !ok {
		return snapshot.NextHop{}, false
	}
	return s.NextHops[id], true
}

func (b *bed) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bed) sysctl(name, value string) {
	b.Helper()
	b.must(os.WriteFile("/proc/sys/"+name, []byte(value), 0o644))
}

func (b *bed) link(name string) netlink.Link {
	b.Helper()
	l, err := netlink.LinkByName(name)
	b.must(err)
	return l
}

func (b *bed) index(name string) int { b.Helper(); return b.link(name).Attrs().Index }
func (b *bed) up(name string)        { b.Helper(); b.must(netlink.LinkSetUp(b.link(name))) }
func (b *bed) down(name string)      { b.Helper(); b.must(netlink.LinkSetDown(b.link(name))) }

func (b *bed) veth(name, peer string) {
	b.Helper()
	err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: peer})
	if err == unix.EOPNOTSUPP {
		testenv.Missing(b, "the kernel has no veth: load the module")
	}
	b.must(err)
}

// addr adds "ADDRESS/BITS DEVICE".
func (b *bed) addr(s string) {
	b.Helper()
	f := strings.Fields(s)
	a, err := netlink.ParseAddr(f[0])
	b.must(err)
	b.must(netlink.AddrReplace(b.link(f[1]), a))
}

func (b *bed) delAddr(s string) {
	b.Helper()
	f := strings.Fields(s)
	a, err := netlink.ParseAddr(f[0])
	b.must(err)
	b.must(netlink.AddrDel(b.link(f[1]), a))
}

// route makes a netlink route of "PREFIX [via GATEWAY] [dev DEVICE] [metric N]
// [mtu N] [lock N] [tos N] [table N] [type T]".
func (b *bed) route(s string) *netlink.Route {
	b.Helper()
	f := strings.Fields(s)
	_, dst, err := net.ParseCIDR(f[0])
	b.must(err)
	r := &netlink.Route{Dst: dst}
	for i := 1; i < len(f); i += 2 {
		var n int
		fmt.Sscan(f[i+1], &n)
		switch f[i] {
		case "via":
			r.Gw = net.ParseIP(f[i+1])
		case "dev":
			r.LinkIndex = b.index(f[i+1])
		case "metric":
			r.Priority = n
		case "mtu":
			r.MTU = n
		case "lock":
			r.MTU, r.MTULock = n, true
		case "tos":
			r.Tos = n
		case "table":
			r.Table = n
		case "type":
			r.Type = map[string]int{"blackhole": unix.RTN_BLACKHOLE, "unreachable": unix.RTN_UNREACHABLE, "prohibit": unix.RTN_PROHIBIT, "throw": unix.RTN_THROW, "local": unix.RTN_LOCAL}[f[i+1]]
			if r.Type == unix.RTN_LOCAL {
				r.Scope = netlink.SCOPE_HOST
			}
		case "src":
			r.Src = net.ParseIP(f[i+1])
		case "realm":
			r.Realm = n
		default:
			b.Fatalf("route: what is %q?", f[i])
		}
	}
	return r
}

func (b *bed) add(s string)     { b.Helper(); b.must(netlink.RouteAdd(b.route(s))) }
func (b *bed) replace(s string) { b.Helper(); b.must(netlink.RouteReplace(b.route(s))) }
func (b *bed) del(s string)     { b.Helper(); b.must(netlink.RouteDel(b.route(s))) }

// neigh sets "ADDRESS DEVICE MAC STATE".
func (b *bed) neigh(s string) {
	b.Helper()
	f := strings.Fields(s)
	n := &netlink.Neigh{LinkIndex: b.index(f[1]), IP: net.ParseIP(f[0])}
	if n.IP.To4() == nil {
		n.Family = unix.AF_INET6
	}
	var err error
	n.HardwareAddr, err = net.ParseMAC(f[2])
	b.must(err)
	n.State = map[string]int{"permanent": unix.NUD_PERMANENT, "reachable": unix.NUD_REACHABLE, "stale": unix.NUD_STALE, "failed": unix.NUD_FAILED}[f[3]]
	b.must(netlink.NeighSet(n))
}

func (b *bed) delNeigh(s string) {
	b.Helper()
	f := strings.Fields(s)
	b.must(netlink.NeighDel(&netlink.Neigh{LinkIndex: b.index(f[1]), IP: net.ParseIP(f[0])}))
}

// order sends one request of another netlink family or kind.
func (b *bed) order(protocol int, typ, flags uint16, body []byte) error {
	b.Helper()
	c, err := nl.Dial(protocol)
	b.must(err)
	defer c.Close()
	return c.Do(typ, flags, body)
}
