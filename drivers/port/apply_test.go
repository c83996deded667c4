package port_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"weir/drivers/port"
	"weir/drivers/port/porttest"
)

const (
	lanMAC = "52:54:00:00:01:01"
	wanMAC = "52:54:00:00:02:01"
)

// twoLinks is a machine whose links have the numbers the wrong way round.
func twoLinks() *porttest.Kernel {
	k := porttest.New()
	k.Add(port.Link{Name: "eth0", MAC: wanMAC, MTU: 1500, MaxMTU: 9000, Oper: port.OperUp}, port.Place{Driver: "virtio_net"})
	k.Add(port.Link{Name: "eth1", MAC: lanMAC, MTU: 1500, MaxMTU: 9000, Oper: port.OperUp}, port.Place{Driver: "virtio_net"})
	return k
}

// only asserts that the one failure of a round is port's, in these words.
func only(t *testing.T, res port.Result, err error, label string, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, p := range res.Ports {
		if p.Label != label && len(p.Errors) > 0 {
			t.Errorf("port %s has errors too: %q", p.Label, p.Errors)
		}
		if p.Label == label && len(p.Errors) == 0 {
			t.Errorf("port %s has no error", label)
		}
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error lacks %q: %v", w, err)
		}
	}
}

// complete asserts that a port of twoPorts is as declared.
func complete(t *testing.T, k *porttest.Kernel, label string) {
	t.Helper()
	l, ok := k.Link(label)
	if !ok || !l.Up {
		t.Fatalf("port %s: %+v", label, l)
	}
	addrs, _ := k.Addresses()
	for _, p := range twoPorts().Ports {
		if p.Label != label {
			continue
		}
		for _, a := range p.Address {
			if !slices.ContainsFunc(addrs, func(x port.Address) bool { return x.Index == l.Index && x.Prefix == a }) {
				t.Errorf("port %s lacks %s", label, a)
			}
		}
	}
	if v, _ := k.Sysctl("ipv4/conf/" + label + "/forwarding"); v != "1" {
		t.Errorf("port %s does not forward", label)
	}
}

// Whatever fails on one port, the other comes up whole.
func TestFailureStaysWithItsPort(t *testing.T) {
	for _, call := range []string{"Rename eth0", "SetUp wan", "AddAddress wan", "AddRoute wan", "SetSysctl ipv4/conf/wan/forwarding", "SetMTU wan"} {
		t.Run(call, func(t *testing.T) {
			k := twoLinks()
			boom := errors.New("boom")
			k.Fail = map[string]error{call: boom}
			spec := twoPorts()
			spec.Ports[1].MTU = 1400
			spec.Ports[1].Forward = !strings.HasPrefix(call, "SetSysctl") // on is on already, by the global switch
			res, err := port.New(k).Apply(context.Background(), spec)
			if !errors.Is(err, boom) {
				t.Errorf("the cause is lost: %v", err)
			}
			only(t, res, err, "wan", "port wan: ", "boom")
			complete(t, k, "lan")

			// Once it no longer fails, another round mends it.
			k.Fail = nil
			spec.Ports[1].Forward = true
			if _, err := port.New(k).Apply(context.Background(), spec); err != nil {
				t.Fatal(err)
			}
			complete(t, k, "wan")
		})
	}
}

// What cannot even be listed is told, and stops no step that does not need it.
func TestListingFails(t *testing.T) {
	for _, call := range []string{"Links", "Addresses", "Routes", "Blocks"} {
		k := twoLinks()
		k.Fail = map[string]error{call: unix.ENOBUFS}
		res, err := port.New(k).Apply(context.Background(), twoPorts())
		if !errors.Is(err, unix.ENOBUFS) {
			t.Errorf("%s: %v", call, err)
		}
		if len(res.Ports) != 2 {
			t.Errorf("%s: %d ports reported", call, len(res.Ports))
		}
		if call == "Routes" || call == "Blocks" {
			complete(t, k, "lan")
		}
	}
}

func TestEndedContext(t *testing.T) {
	k := twoLinks()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := port.New(k).Apply(ctx, twoPorts()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if log := k.Log(); len(log) != 0 {
		t.Errorf("changed all the same: %q", log)
	}
}

func TestMTUBeyondDriver(t *testing.T) {
	k := twoLinks()
	spec := twoPorts()
	spec.Ports[1].MTU = 9001
	res, err := port.New(k).Apply(context.Background(), spec)
	only(t, res, err, "wan", "mtu 9001 is more than its driver (virtio_net) can do: use at most 9000; it stays at 1500")
	if res.Ports[1].MTU != 1500 {
		t.Errorf("reports mtu %d", res.Ports[1].MTU)
	}
	complete(t, k, "wan")
	complete(t, k, "lan")
}

// A driver without a limit of its own that refuses all the same (mvpp2: jumbo
// frames against an XDP program).
func TestMTURefusedWithXDP(t *testing.T) {
	k := twoLinks()
	wan, _ := k.Link("eth0")
	k.Change(wan.Index, func(l *port.Link) { l.XDP = true; l.MaxMTU = 0 })
	k.Fail = map[string]error{"SetMTU wan": unix.EOPNOTSUPP}
	spec := twoPorts()
	spec.Ports[1].MTU = 9000
	res, err := port.New(k).Apply(context.Background(), spec)
	only(t, res, err, "wan", "refuses mtu 9000", `tier = "kernel"`, "XDP", "stays at 1500")
	complete(t, k, "wan")
}

func TestForwardingPerPort(t *testing.T) {
	k := twoLinks()
	spec := twoPorts()
	spec.Ports[1].Forward = false
	s := port.New(k)
	apply(t, s, spec)
	want := map[string]string{
		"ipv4/conf/lan/forwarding": "1", "ipv6/conf/lan/forwarding": "1",
		"ipv4/conf/wan/forwarding": "0", "ipv6/conf/wan/forwarding": "0",
		"ipv4/conf/all/forwarding": "1", "ipv6/conf/all/forwarding": "1",
		"ipv4/conf/lan/accept_redirects": "0", "ipv4/conf/wan/accept_redirects": "1",
	}
	for name, w := range want {
		if v, _ := k.Sysctl(name); v != w {
			t.Errorf("%s = %s, want %s", name, v, w)
		}
	}
	if b, _ := k.Blocks(); !slices.Equal(b, []string{"wan"}) {
		t.Errorf("blocked: %q", b)
	}
	if r := apply(t, s, spec); len(r.Changes) > 0 {
		t.Errorf("second round: %q", r.Changes)
	}
	// All off: the kernel's own switch does it, and no rule is left.
	spec.Ports[0].Forward = false
	apply(t, s, spec)
	if b, _ := k.Blocks(); len(b) > 0 {
		t.Errorf("blocked: %q", b)
	}
	if v, _ := k.Sysctl("ipv6/conf/all/forwarding"); v != "0" {
		t.Error("IPv6 still forwards")
	}
}

// A kernel without IPv6 carries IPv4, and says what it cannot have.
func TestNoIPv6(t *testing.T) {
	k := twoLinks()
	k.NoIPv6 = true
	res, err := port.New(k).Apply(context.Background(), twoPorts())
	if !errors.Is(err, unix.EOPNOTSUPP) || !strings.Contains(err.Error(), "IPv6 is switched off") {
		t.Error(err)
	}
	for _, p := range res.Ports {
		for _, e := range p.Errors {
			if !strings.Contains(e, "2001:db8") && !strings.Contains(e, "fe80") && !strings.Contains(e, "::/0") {
				t.Errorf("port %s: %s", p.Label, e)
			}
		}
	}
}

func TestForeignThingsStay(t *testing.T) {
	k := twoLinks()
	lan, _ := k.Link("eth1")
	for _, a := range []port.Address{
		{Index: lan.Index, Prefix: netip.MustParsePrefix("192.168.77.1/24"), Permanent: true},        // by hand: goes
		{Index: lan.Index, Prefix: netip.MustParsePrefix("192.168.78.1/24")},                         // leased: stays
		{Index: lan.Index, Prefix: netip.MustParsePrefix("fe80::abcd/64"), Permanent: true},          // the kernel's: stays
		{Index: lan.Index, Prefix: netip.MustParsePrefix("2001:db8:99::1/64"), Tentative: true},      // advertised: stays
		{Index: lan.Index, Prefix: netip.MustParsePrefix("fe80::5/64"), Permanent: true, Ours: true}, // once declared: goes
		{Index: 1, Prefix: netip.MustParsePrefix("127.0.0.1/8"), Permanent: true},                    // another interface's: stays
		{Index: 1, Prefix: netip.MustParsePrefix("203.0.113.200/32"), Permanent: true, Ours: true},   // of a port that is gone: goes
		{Index: lan.Index, Prefix: netip.MustParsePrefix("192.168.1.1/16"), Permanent: true},         // other length: goes
		{Index: lan.Index, Prefix: netip.MustParsePrefix("2001:db8:1::1/48"), Permanent: true},       // other length: goes
	} {
		k.AddAs(a)
	}
	k.AddForeign(port.KernelRoute{To: netip.MustParsePrefix("10.1.0.0/16"), Index: lan.Index})
	res, err := port.New(k).Apply(context.Background(), twoPorts())
	only(t, res, err, "lan", "cannot route to 10.1.0.0/16", "not from this configuration")
	var left []string
	addrs, _ := k.Addresses()
	for _, a := range addrs {
		if !a.Ours {
			left = append(left, a.Prefix.String())
		}
	}
	want := []string{"192.168.78.1/24", "fe80::abcd/64", "2001:db8:99::1/64", "127.0.0.1/8", "fe80::5054:ff:fe00:3/64", "fe80::5054:ff:fe00:2/64"}
	if !slices.Equal(left, want) {
		t.Errorf("left:\n%q\nwant:\n%q", left, want)
	}
	complete(t, k, "lan")
}

// An address that another machine has is a fault of its port, and tried again by
// the next Apply, not by itself.
func TestDuplicateAddress(t *testing.T) {
	k := twoLinks()
	s := port.New(k)
	apply(t, s, twoPorts())
	dup := netip.MustParsePrefix("2001:db8:1::1/64")
	k.ChangeAddress(dup, func(a *port.Address) { a.Tentative, a.DADFailed = true, true })
	k.Log()
	res, err := s.Apply(context.Background(), twoPorts())
	if err != nil || !slices.Equal(res.Changes, []string{
		"lan: trying the address 2001:db8:1::1/64 again, which another machine had", "lan: address 2001:db8:1::1/64 added"}) {
		t.Errorf("%q, %v", res.Changes, err)
	}
}

// From any declaration to any other: the second round of the latter changes
// nothing, also for a fresh Setup, and nothing of the former is left.
func TestApplyTwiceChangesNothing(t *testing.T) {
	seed := uint64(rand.Uint32())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for round := range 300 {
		k := porttest.New()
		k.RenameNeedsDown = rng.IntN(2) == 0
		for i := range 4 {
			k.Add(port.Link{Name: fmt.Sprintf("eth%d", i), MAC: mac(i), MTU: 1500, Oper: port.OperUp, Up: rng.IntN(2) == 0}, port.Place{})
		}
		var last port.Spec
		for range 3 {
			last = randomSpec(rng)
			if _, err := port.New(k).Apply(context.Background(), last); err != nil {
				t.Fatalf("seed %d, round %d: %v", seed, round, err)
			}
		}
		k.Log()
		res, err := port.New(k).Apply(context.Background(), last)
		if err != nil || len(res.Changes) > 0 || len(k.Log()) > 0 {
			t.Fatalf("seed %d, round %d: applied again: %q, %v", seed, round, res.Changes, err)
		}
		if routes, _ := k.Routes(); len(routes) != len(last.Routes) {
			t.Fatalf("seed %d, round %d: %d routes of %d", seed, round, len(routes), len(last.Routes))
		}
	}
}

func mac(i int) string { return fmt.Sprintf("52:54:00:00:00:%02x", i) }

// randomSpec declares some of four links, under names that are often another's.
func randomSpec(rng *rand.Rand) (s port.Spec) {
	names := []string{"eth0", "eth1", "eth2", "eth3", "lan", "wan"}
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for i := range 4 {
		if rng.IntN(4) == 0 {
			continue
		}
		p := port.Port{Label: names[i], Match: port.Match{MAC: mac(i)}, MTU: []int{0, 1400, 1500}[rng.IntN(3)], Forward: rng.IntN(3) > 0}
		for n := range rng.IntN(4) {
			p.Address = append(p.Address,
				netip.MustParsePrefix(fmt.Sprintf("10.%d.0.%d/%d", i, n+1, 16+8*rng.IntN(2))),
				netip.MustParsePrefix(fmt.Sprintf("2001:db8:%d::%d/%d", i, n+1, 48+16*rng.IntN(2))))
		}
		if len(p.Address) > 0 && rng.IntN(2) == 0 {
			s.Routes = append(s.Routes, port.Route{To: netip.MustParsePrefix(fmt.Sprintf("172.16.%d.0/24", i)),
				Via: netip.MustParseAddr(fmt.Sprintf("10.%d.0.%d", i, 9+rng.IntN(2)))})
		}
		if rng.IntN(2) == 0 {
			s.Routes = append(s.Routes, port.Route{To: netip.MustParsePrefix(fmt.Sprintf("2001:db8:f00%d::/48", i)), Port: p.Label,
				Via: []netip.Addr{{}, netip.MustParseAddr("fe80::1"), netip.MustParseAddr("2001:db8:77::1")}[rng.IntN(3)]})
		}
		s.Ports = append(s.Ports, p)
	}
	return s
}

func TestStateReportsWhatIs(t *testing.T) {
	k := twoLinks()
	s := port.New(k)
	apply(t, s, twoPorts())
	res := apply(t, s, twoPorts()) // still the first names
	want := port.State{Label: "wan", Kernel: "eth0", Driver: "virtio_net", MAC: wanMAC, MTU: 1500, Carrier: true,
		Address: []string{"fe80::5054:ff:fe00:2/64", "198.51.100.0/31", "203.0.113.9/32", "2001:db8:2::/127"}}
	if !reflect.DeepEqual(res.Ports[1], want) {
		t.Errorf("got  %+v\nwant %+v", res.Ports[1], want)
	}
}
