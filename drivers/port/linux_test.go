package port_test

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/vishvananda/netlink"

	"weir/drivers/port"
	"weir/internal/testenv"
)

func prefixes(list ...string) (ps []netip.Prefix) {
	for _, s := range list {
		ps = append(ps, netip.MustParsePrefix(s))
	}
	return ps
}

// pair makes a veth pair with fixed MAC addresses, the second end up.
func pair(t *testing.T, a, macA, b, macB string) {
	t.Helper()
	la := netlink.NewLinkAttrs()
	la.Name = a
	v := &netlink.Veth{LinkAttrs: la, PeerName: b}
	if err := netlink.LinkAdd(v); err != nil {
		t.Fatal(err)
	}
	for name, mac := range map[string]string{a: macA, b: macB} {
		l, err := netlink.LinkByName(name)
		if err != nil {
			t.Fatal(err)
		}
		hw, err := net.ParseMAC(mac)
		if err != nil {
			t.Fatal(err)
		}
		if err := netlink.LinkSetHardwareAddr(l, hw); err != nil {
			t.Fatal(err)
		}
		if name == b {
			if err := netlink.LinkSetUp(l); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func twoPorts() port.Spec {
	return port.Spec{
		Ports: []port.Port{
			{Label: "lan", Match: port.Match{MAC: "52:54:00:00:01:01"}, MTU: 1400, Forward: true,
				Address: prefixes("192.168.1.1/24", "192.168.2.1/24", "2001:db8:1::1/64", "fe80::1/64")},
			{Label: "wan", Match: port.Match{MAC: "52:54:00:00:02:01"}, Forward: true,
				Address: prefixes("198.51.100.0/31", "203.0.113.9/32", "2001:db8:2::/127")},
		},
		Routes: []port.Route{
			{To: netip.MustParsePrefix("0.0.0.0/0"), Via: netip.MustParseAddr("198.51.100.1")},
			{To: netip.MustParsePrefix("::/0"), Via: netip.MustParseAddr("fe80::99"), Port: "wan"},
			{To: netip.MustParsePrefix("10.0.0.0/8"), Via: netip.MustParseAddr("192.0.2.1"), Port: "lan"}, // on no network
			{To: netip.MustParsePrefix("10.1.0.0/16"), Port: "lan"},
			{To: netip.MustParsePrefix("2001:db8:f::/48"), Via: netip.MustParseAddr("2001:db8:1::2")},
			{To: netip.MustParsePrefix("2001:db8:e::/48"), Port: "wan"},
		},
	}
}

func apply(t *testing.T, s *port.Setup, spec port.Spec) port.Result {
	t.Helper()
	r, err := s.Apply(context.Background(), spec)
	if err != nil {
		t.Fatalf("%v\nchanges: %q", err, r.Changes)
	}
	return r
}

// In a real kernel: everything declared is there, and applying twice changes
// nothing, also when somebody else looks (a new Setup).
func TestLinuxApplyTwice(t *testing.T) {
	testenv.Namespace(t)
	pair(t, "a0", "52:54:00:00:01:01", "a1", "52:54:00:00:01:02")
	pair(t, "b0", "52:54:00:00:02:01", "b1", "52:54:00:00:02:02")
	s := port.New(port.Linux{})
	r := apply(t, s, twoPorts())
	for range 2 {
		if again := apply(t, s, twoPorts()); len(again.Changes) != 0 {
			t.Errorf("applied again, and changed: %q", again.Changes)
		}
		s = port.New(port.Linux{})
	}
	lan, err := netlink.LinkByName("lan")
	if err != nil {
		t.Fatal(err)
	}
	if a := lan.Attrs(); a.MTU != 1400 || a.Flags&1 == 0 {
		t.Errorf("lan: mtu %d, flags %v", a.MTU, a.Flags)
	}
	if p := r.Ports[0]; p.Kernel != "a0" || p.Driver != "veth" || !slices.Contains(p.Address, "192.168.2.1/24") {
		t.Errorf("state of lan: %+v", p)
	}

	// A router believes no redirects: routes that they leave are in no table.
	if v, err := (port.Linux{}).Sysctl("ipv4/conf/lan/accept_redirects"); v != "0" {
		t.Errorf("net.ipv4.conf.lan.accept_redirects is %s, %v", v, err)
	}
	// The kernel tells the carrier a moment later.
	until(t, "lan has a carrier", func() bool { return apply(t, s, twoPorts()).Ports[0].Carrier })

	// Everything taken back again, but the port itself.
	bare := port.Spec{Gone: []string{"wan"}, Ports: []port.Port{{Label: "lan", Match: port.Match{MAC: "52:54:00:00:01:01"}}}}
	r = apply(t, s, bare)
	if again := apply(t, s, bare); len(again.Changes) != 0 {
		t.Errorf("applied again, and changed: %q", again.Changes)
	}
	if l, err := netlink.LinkByName("wan"); err != nil || l.Attrs().Flags&1 != 0 {
		t.Errorf("wan is still on: %+v, %v", l, err)
	}
	if v, err := (port.Linux{}).Sysctl("ipv4/conf/wan/forwarding"); v != "0" {
		t.Errorf("wan still forwards: %s, %v", v, err)
	}
	routes, err := port.Linux{}.Routes()
	if err != nil || len(routes) != 0 {
		t.Errorf("routes left: %v, %v", routes, err)
	}
	addrs, err := port.Linux{}.Addresses()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if !a.Prefix.Addr().IsLinkLocalUnicast() || a.Ours {
			t.Errorf("address left: %+v", a)
		}
	}
}
