package mirror

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"weir/netstack/frame"
	"weir/netstack/mirror/nl"
	"weir/netstack/snapshot"
)

func TestConfirm(t *testing.T) {
	b := newBed(t, nil)
	b.add("0.0.0.0/0 via 10.2.0.2")
	b.neigh("10.2.0.2 wan 02:00:00:00:00:22 stale")
	b.neigh("10.2.0.3 wan 02:00:00:00:00:23 stale")
	b.gets("192.0.2.1", "wan 22 stale")
	id, _ := b.m.Current().FIB.Lookup4([4]byte{192, 0, 2, 1})
	b.m.Confirm([]uint32{id, 0, 1 << 30})
	state := func(ip string) int {
		l, err := netlink.NeighList(b.index("wan"), unix.AF_INET)
		b.must(err)
		for _, n := range l {
			if n.IP.String() == ip {
				return n.State
			}
		}
		return 0
	}
	b.wait("the kernel confirms it", func(*snapshot.Snapshot) bool {
		return state("10.2.0.2")&(unix.NUD_DELAY|unix.NUD_PROBE) != 0
	})
	if s := state("10.2.0.3"); s != unix.NUD_STALE {
		t.Errorf("a neighbour that nobody asked about went from stale to %#x", s)
	}
	if s := b.m.Stats(); s.Confirms != 1 {
		t.Errorf("%d neighbours were confirmed, want 1", s.Confirms)
	}
	// Nobody answers: the kernel gives up, and so does the snapshot.
	b.sysctl("net/ipv4/neigh/wan/delay_first_probe_time", "0")
	b.sysctl("net/ipv4/neigh/wan/retrans_time_ms", "20")
	b.neigh("10.2.0.2 wan 02:00:00:00:00:22 stale")
	b.gets("192.0.2.1", "wan 22 stale")
	b.m.Confirm([]uint32{id})
	b.gets("192.0.2.1", "no-neighbour")
}

func TestLinks(t *testing.T) {
	b := newBed(t, nil)
	b.neigh("10.2.0.2 wan 02:00:00:00:00:22 permanent")
	b.add("0.0.0.0/0 via 10.2.0.2")
	b.gets("192.0.2.1", "wan 22")
	first := b.index("wan")

	b.must(netlink.LinkSetMTU(b.link("wan"), 1400))
	b.wait("the MTU changes", func(s *snapshot.Snapshot) bool {
		nh, _ := hop(s, "192.0.2.1")
		return s.Ports[1].MTU == 1400 && nh.MTU == 1400
	})
	mac := [6]byte{2, 9, 9, 9, 9, 9}
	b.must(netlink.LinkSetHardwareAddr(b.link("wan"), mac[:]))
	b.gets("192.0.2.1", "no-neighbour") // the kernel forgets all neighbours there, permanent ones too
	b.neigh("10.2.0.2 wan 02:00:00:00:00:22 permanent")
	b.wait("the MAC changes", func(s *snapshot.Snapshot) bool {
		nh, _ := hop(s, "192.0.2.1")
		return s.Ports[1].MAC == mac && nh.SrcMAC == mac
	})
	// Renamed away, it is a port no more; its routes are the kernel's.
	b.must(netlink.LinkSetName(b.link("wan"), "other"))
	b.wait("the port is gone", func(s *snapshot.Snapshot) bool {
		return s.Ports[1].IfIndex == 0 && !s.Ports[1].Fast4 && len(s.Ports[1].Slow) > 0 && answers(s, "192.0.2.1") == frame.ReasonKernelRoute.String()
	})
	b.must(netlink.LinkSetName(b.link("other"), "wan"))
	b.gets("192.0.2.1", "wan 22")
	// Deleted and made again it has another index and the same number.
	b.must(netlink.LinkDel(b.link("wan")))
	b.gets("192.0.2.1", "no entry")
	b.veth("wan", "wanp")
	b.up("wan")
	b.up("wanp")
	b.addr("10.2.0.1/24 wan")
	b.neigh("10.2.0.2 wan 02:00:00:00:00:33 permanent")
	b.add("0.0.0.0/0 via 10.2.0.2")
	b.gets("192.0.2.1", "wan 33")
	s := b.m.Current()
	if got := s.Ports[1]; got.IfIndex == first || got.IfIndex != b.index("wan") || got.Name != "wan" {
		t.Errorf("port 1 is %+v, its interface's index was %d and is %d", got, first, b.index("wan"))
	}
}

// nexthop makes or replaces a next hop object.
func (b *bed) nexthop(typ, flags uint16, id uint32, gateway, dev string) {
	b.Helper()
	// struct nhmsg: u8 family, scope, protocol, reserved; u32 flags. NHA_ID 1,
	// NHA_OIF 5, NHA_GATEWAY 6.
	u32 := func(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }
	body := []byte{unix.AF_INET, 0, 0, 0, 0, 0, 0, 0}
	body = nl.AppendAttr(body, 1, u32(id))
	if typ == unix.RTM_NEWNEXTHOP {
		gw := netip.MustParseAddr(gateway).As4()
		body = nl.AppendAttr(body, 5, u32(uint32(b.index(dev))))
		body = nl.AppendAttr(body, 6, gw[:])
	}
	b.must(b.order(unix.NETLINK_ROUTE, typ, flags, body))
}

func TestNextHopObjects(t *testing.T) {
	b := newBed(t, nil)
	b.neigh("10.2.0.2 wan 02:00:00:00:00:22 permanent")
	b.neigh("10.1.0.2 lan 02:00:00:00:00:12 permanent")
	b.nexthop(unix.RTM_NEWNEXTHOP, unix.NLM_F_CREATE, 7, "10.2.0.2", "wan")
	const rtaNHID = 30
	body := make([]byte, unix.SizeofRtMsg)
	body[0], body[1], body[4], body[5], body[7] = unix.AF_INET, 24, unix.RT_TABLE_MAIN, unix.RTPROT_STATIC, unix.RTN_UNICAST
	body = nl.AppendAttr(body, unix.RTA_DST, []byte{192, 0, 2, 0})
	body = nl.AppendAttr(body, rtaNHID, binary.NativeEndian.AppendUint32(nil, 7))
	b.must(b.order(unix.NETLINK_ROUTE, unix.RTM_NEWROUTE, unix.NLM_F_CREATE|unix.NLM_F_EXCL, body))
	b.gets("192.0.2.1", "wan 22")
	b.nexthop(unix.RTM_NEWNEXTHOP, unix.NLM_F_CREATE|unix.NLM_F_REPLACE, 7, "10.1.0.2", "lan")
	b.gets("192.0.2.1", "lan 12")
	b.nexthop(unix.RTM_DELNEXTHOP, 0, 7, "", "")
	b.gets("192.0.2.1", "no entry")

	// Where the kernel does not write the next hop out, the route is its own.
	b.sysctl("net/ipv4/nexthop_compat_mode", "0")
	b.nexthop(unix.RTM_NEWNEXTHOP, unix.NLM_F_CREATE, 8, "10.2.0.2", "wan")
	binary.NativeEndian.PutUint32(body[len(body)-4:], 8)
	b.must(b.order(unix.NETLINK_ROUTE, unix.RTM_NEWROUTE, unix.NLM_F_CREATE|unix.NLM_F_EXCL, body))
	b.gets("192.0.2.1", "kernel-route")
}

// TestLifetime: a route that ends at a time ends on the fast path before it
// does in the kernel, though neither its renewal nor its end is told.
func TestLifetime(t *testing.T) {
	b := newBed(t, nil)
	b.neigh("2001:db8:2::2 wan 02:00:00:00:00:22 permanent")
	const rtaExpires = 23 // in seconds
	order := func(seconds uint32, flags uint16) {
		t.Helper()
		body := make([]byte, unix.SizeofRtMsg)
		body[0], body[1], body[4], body[5], body[7] = unix.AF_INET6, 32, unix.RT_TABLE_MAIN, unix.RTPROT_RA, unix.RTN_UNICAST
		dst, gw := netip.MustParseAddr("2001:db8::").As16(), netip.MustParseAddr("2001:db8:2::2").As16()
		body = nl.AppendAttr(body, unix.RTA_DST, dst[:])
		body = nl.AppendAttr(body, unix.RTA_GATEWAY, gw[:])
		body = nl.AppendAttr(body, rtaExpires, binary.NativeEndian.AppendUint32(nil, seconds))
		b.must(b.order(unix.NETLINK_ROUTE, unix.RTM_NEWROUTE, flags, body))
	}
	order(6, unix.NLM_F_CREATE|unix.NLM_F_EXCL)
	b.gets("2001:db8:77::1", "wan 22")
	b.gets("2001:db8:77::1", "kernel-route")
	order(3600, unix.NLM_F_CREATE|unix.NLM_F_REPLACE)
	b.gets("2001:db8:77::1", "wan 22")
}
