package mirror

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"weir/netstack/snapshot"
)

// gets waits until an address meets what is written: "mac MAC out PORT mtu N",
// a reason's name, or "no entry".
func (b *bed) gets(addr, want string) {
	b.Helper()
	b.wait(addr+" gets "+want, func(s *snapshot.Snapshot) bool { return answers(s, addr) == want })
}

func answers(s *snapshot.Snapshot, addr string) string {
	nh, ok := hop(s, addr)
	switch {
	case !ok:
		return "no entry"
	case nh.Kind == snapshot.KindKernel:
		return nh.Reason.String()
	}
	var w strings.Builder
	w.WriteString(s.Ports[nh.Out].Name + " ")
	const hex = "0123456789abcdef"
	w.WriteByte(hex[nh.DstMAC[5]>>4])
	w.WriteByte(hex[nh.DstMAC[5]&15])
	if nh.MTU != uint32(s.Ports[nh.Out].MTU) {
		w.WriteString(" mtu " + itoa(int(nh.MTU)))
	}
	if nh.Stale {
		w.WriteString(" stale")
	}
	return w.String()
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func TestRoutes4(t *testing.T) {
	b := newBed(t, nil)
	b.neigh("10.2.0.2 wan 02:00:00:00:00:22 permanent")
	b.neigh("10.2.0.3 wan 02:00:00:00:00:23 permanent")
	b.neigh("10.1.0.9 lan 02:00:00:00:00:19 permanent")

	b.gets("10.1.0.1", "local")
	b.gets("10.1.0.255", "local") // broadcast
	b.gets("10.1.0.9", "lan 19")
	b.gets("10.1.0.8", "no-neighbour")
	b.gets("192.0.2.1", "no entry")
	b.gets("127.0.0.1", "local")

	b.add("0.0.0.0/0 via 10.2.0.2")
	b.gets("192.0.2.1", "wan 22")
	b.add("192.0.2.0/24 via 10.2.0.3 metric 20")
	b.gets("192.0.2.1", "wan 23")
	b.add("192.0.2.0/24 via 10.1.0.9 metric 10") // the lower metric wins
	b.gets("192.0.2.1", "lan 19")
	b.replace("192.0.2.0/24 via 10.2.0.2 metric 10")
	b.gets("192.0.2.1", "wan 22")
	b.del("192.0.2.0/24 via 10.2.0.2 metric 10")
	b.gets("192.0.2.1", "wan 23")
	b.replace("192.0.2.0/24 via 10.2.0.3 metric 20 mtu 1300")
	b.gets("192.0.2.1", "wan 23 mtu 1300")
	b.replace("192.0.2.0/24 via 10.2.0.3 metric 20 mtu 9000") // no larger than the port
	b.gets("192.0.2.1", "wan 23")
	b.replace("192.0.2.0/24 via 10.2.0.3 metric 20 lock 1200")
	b.gets("192.0.2.1", "wan 23 mtu 1200")
	b.del("192.0.2.0/24 via 10.2.0.3 metric 20 lock 1200")
	b.gets("192.0.2.1", "wan 22")

	for _, kind := range []string{"blackhole", "prohibit", "throw"} {
		b.add("192.0.2.0/24 type " + kind)
		b.gets("192.0.2.1", "kernel-route")
		b.del("192.0.2.0/24 type " + kind)
		b.gets("192.0.2.1", "wan 22")
	}
	b.add("192.0.2.0/24 type unreachable")
	b.gets("192.0.2.1", "no-route")
	b.del("192.0.2.0/24 type unreachable")

	b.add("192.0.2.0/24 via 10.2.0.3")
	b.gets("192.0.2.1", "wan 23")
	b.add("192.0.2.0/24 via 10.2.0.2 tos 16") // serves only some packets
	b.gets("192.0.2.1", "kernel-route")
	b.del("192.0.2.0/24 via 10.2.0.2 tos 16")
	b.gets("192.0.2.1", "wan 23")
	b.add("192.0.2.0/24 via 10.2.0.2 table 100") // nobody asks this table
	b.add("192.0.2.7/32 via 10.2.0.2")
	b.gets("192.0.2.7", "wan 22")
	b.gets("192.0.2.1", "wan 23")

	// Two of one key: the kernel takes the first, which events do not tell.
	b.must(netlink.RouteAppend(b.route("192.0.2.0/24 via 10.2.0.2")))
	b.gets("192.0.2.1", "kernel-route")
	b.del("192.0.2.0/24 via 10.2.0.3")
	b.gets("192.0.2.1", "wan 22") // by a new dump

	// A host that is on the link by a route of its own, and one that is not.
	b.add("203.0.113.9/32 dev lan")
	b.gets("203.0.113.9", "no-neighbour")
	b.neigh("203.0.113.9 lan 02:00:00:00:00:39 permanent")
	b.gets("203.0.113.9", "lan 39")
	b.neigh("203.0.113.10 lan 02:00:00:00:00:3a permanent")
	b.gets("203.0.113.10", "wan 22") // the default route, whatever the neighbour table says
	b.add("203.0.113.0/24 dev lan")
	b.gets("203.0.113.10", "lan 3a")
	b.gets("203.0.113.11", "no-neighbour")

	// Out of an interface that is no port of ours.
	b.add("198.51.100.0/24 dev lo")
	b.gets("198.51.100.1", "kernel-route")
}

func TestRoutes6(t *testing.T) {
	b := newBed(t, nil)
	b.neigh("2001:db8:2::2 wan 02:00:00:00:00:22 permanent")
	b.neigh("fe80::3 wan 02:00:00:00:00:23 permanent")
	b.neigh("2001:db8:1::9 lan 02:00:00:00:00:19 permanent")

	b.gets("2001:db8:1::1", "local")
	b.gets("2001:db8:1::", "local") // the subnet's router anycast address
	b.gets("2001:db8:1::9", "lan 19")
	b.gets("2001:db8:1::8", "no-neighbour")
	b.gets("2001:db8:99::1", "no entry")
	b.add("::/0 via 2001:db8:2::2")
	b.gets("2001:db8:99::1", "wan 22")
	b.add("2001:db8:99::/48 via fe80::3 dev wan metric 20") // link-local gateway
	b.gets("2001:db8:99::1", "wan 23")
	b.add("2001:db8:99::/48 via 2001:db8:1::9 metric 10")
	b.gets("2001:db8:99::1", "lan 19")
	b.replace("2001:db8:99::/48 via 2001:db8:2::2 metric 10 mtu 1300") // IPv6 forwards by the interface's MTU
	b.gets("2001:db8:99::1", "wan 22")
	b.replace("2001:db8:99::/48 via 2001:db8:2::2 metric 10 lock 1300")
	b.gets("2001:db8:99::1", "wan 22 mtu 1300")
	b.replace("2001:db8:99::/48 via 2001:db8:2::2 metric 10 lock 1000")
	b.gets("2001:db8:99::1", "wan 22 mtu 1280")
	b.sysctl("net/ipv6/conf/wan/mtu", "1400") // no event, so it takes a poll
	b.gets("2001:db8:98::1", "wan 22 mtu 1400")
	b.sysctl("net/ipv6/conf/wan/mtu", "1500")
	b.gets("2001:db8:98::1", "wan 22")
	b.del("2001:db8:99::/48 metric 10")
	b.gets("2001:db8:99::1", "wan 23")

	// A second gateway of the same metric makes it multipath.
	b.must(netlink.RouteAppend(b.route("2001:db8:99::/48 via 2001:db8:1::9 metric 20")))
	b.gets("2001:db8:99::1", "kernel-route")
	b.del("2001:db8:99::/48 via fe80::3 dev wan metric 20")
	b.gets("2001:db8:99::1", "lan 19")
	b.del("2001:db8:99::/48 metric 20")
	b.gets("2001:db8:99::1", "wan 22")
	b.add("2001:db8:99::/48 type blackhole")
	b.gets("2001:db8:99::1", "kernel-route")
}

// TestMultipath: more than one way is the kernel's, in one message or in two.
func TestMultipath(t *testing.T) {
	b := newBed(t, nil)
	b.neigh("10.2.0.2 wan 02:00:00:00:00:22 permanent")
	r := b.route("192.0.2.0/24")
	r.MultiPath = []*netlink.NexthopInfo{
		{LinkIndex: b.index("wan"), Gw: b.route("0.0.0.0/0 via 10.2.0.2").Gw},
		{LinkIndex: b.index("lan"), Gw: b.route("0.0.0.0/0 via 10.1.0.2").Gw},
	}
	b.must(netlink.RouteAdd(r))
	b.gets("192.0.2.1", "kernel-route")
	b.replace("192.0.2.0/24 via 10.2.0.2")
	b.gets("192.0.2.1", "wan 22")
}

// TestLocalWins: a route inside a wide prefix of table local is the kernel's,
// because which of the two it asks first depends on its past.
func TestLocalWins(t *testing.T) {
	b := newBed(t, nil)
	b.neigh("10.2.0.2 wan 02:00:00:00:00:22 permanent")
	b.add("192.0.2.0/24 via 10.2.0.2")
	b.add("198.51.0.0/16 via 10.2.0.2")
	b.gets("192.0.2.1", "wan 22")
	b.add("192.0.2.1/32 dev lo table 255 type local")
	b.gets("192.0.2.1", "local")
	b.gets("192.0.2.2", "wan 22")
	b.add("192.0.0.0/16 dev lo table 255 type local")
	b.gets("192.0.2.2", "kernel-route")
	b.gets("192.0.3.2", "local")
	b.gets("198.51.3.2", "wan 22")
	b.del("192.0.0.0/16 dev lo table 255 type local")
	b.gets("192.0.2.2", "wan 22")
}

func TestNeighbours(t *testing.T) {
	b := newBed(t, nil)
	b.add("0.0.0.0/0 via 10.2.0.2")
	b.gets("192.0.2.1", "no-neighbour")
	b.neigh("10.2.0.2 wan 02:00:00:00:00:22 reachable")
	b.gets("192.0.2.1", "wan 22") // the gateway resolved after its route came
	b.gets("10.2.0.2", "wan 22")
	b.neigh("10.2.0.2 wan 02:00:00:00:00:23 reachable") // it moved
	b.gets("192.0.2.1", "wan 23")
	b.neigh("10.2.0.2 wan 02:00:00:00:00:23 stale")
	b.gets("192.0.2.1", "wan 23 stale")
	b.neigh("10.2.0.2 wan 02:00:00:00:00:23 failed")
	b.gets("192.0.2.1", "no-neighbour")
	b.gets("10.2.0.2", "no-neighbour")
	b.neigh("10.2.0.2 wan 02:00:00:00:00:24 reachable")
	b.gets("192.0.2.1", "wan 24")
	b.delNeigh("10.2.0.2 wan")
	b.gets("192.0.2.1", "no-neighbour")

	// The same address on two links counts only where the route points to.
	b.neigh("10.1.0.7 wan 02:00:00:00:00:27 permanent")
	b.gets("10.1.0.7", "no-neighbour")
	b.neigh("10.1.0.7 lan 02:00:00:00:00:17 permanent")
	b.gets("10.1.0.7", "lan 17")
	b.delNeigh("10.1.0.7 wan")
	b.gets("10.1.0.7", "lan 17")
	// A proxy entry is not a neighbour.
	b.must(netlink.NeighAdd(&netlink.Neigh{LinkIndex: b.index("lan"), IP: b.route("10.1.0.6/32 via 10.1.0.6").Gw, Flags: unix.NTF_PROXY, Family: unix.AF_INET}))
	b.neigh("10.1.0.5 lan 02:00:00:00:00:15 permanent")
	b.gets("10.1.0.5", "lan 15")
	b.gets("10.1.0.6", "no-neighbour")
}

func TestLocalAddresses(t *testing.T) {
	b := newBed(t, nil)
	has := func(addr string, want bool) {
		t.Helper()
		a := netip.MustParseAddr(addr)
		b.wait(addr+" in the set of own addresses", func(s *snapshot.Snapshot) bool {
			for _, x := range s.Local4.All() {
				if x == a {
					return want
				}
			}
			return !want
		})
	}
	has("10.1.0.1", true)
	has("10.1.0.2", false)
	b.addr("10.1.0.2/24 lan")
	has("10.1.0.2", true)
	b.gets("10.1.0.2", "local")
	b.addr("10.1.0.2/32 wan") // on two interfaces
	b.delAddr("10.1.0.2/24 lan")
	has("10.1.0.2", true)
	b.delAddr("10.1.0.2/32 wan")
	has("10.1.0.2", false)
	b.gets("10.1.0.2", "no-neighbour")
}

// TestSilentFlush: IPv4 routes that go without an event.
func TestSilentFlush(t *testing.T) {
	b := newBed(t, nil)
	b.neigh("10.2.0.2 wan 02:00:00:00:00:22 permanent")
	b.neigh("10.1.0.9 lan 02:00:00:00:00:19 permanent")
	b.add("192.0.2.0/24 via 10.1.0.9 metric 1")
	b.add("192.0.2.0/24 via 10.2.0.2 metric 2")
	b.gets("192.0.2.1", "lan 19")
	b.down("lan")
	b.gets("192.0.2.1", "wan 22")
}

// TestSilentFlushBySource: so do those whose preferred source goes.
func TestSilentFlushBySource(t *testing.T) {
	b := newBed(t, nil)
	b.neigh("10.2.0.2 wan 02:00:00:00:00:22 permanent")
	b.add("192.0.2.0/24 via 10.2.0.2 metric 2")
	b.addr("10.2.0.77/32 wan")
	b.add("192.0.2.0/24 via 10.2.0.2 metric 1 src 10.2.0.77 mtu 1300")
	b.gets("192.0.2.1", "wan 22 mtu 1300")
	b.delAddr("10.2.0.77/32 wan")
	b.gets("192.0.2.1", "wan 22")
}
