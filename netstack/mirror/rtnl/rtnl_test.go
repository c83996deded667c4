package rtnl

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/nl"
)

func u32(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }

// route4 is a route to 192.0.2.0/24 by 10.0.0.1 and interface 3.
func route4(edit func([]byte) []byte) []byte {
	b := make([]byte, sizeofRtmsg)
	b[0], b[1], b[4], b[5], b[7] = unix.AF_INET, 24, unix.RT_TABLE_MAIN, unix.RTPROT_STATIC, unix.RTN_UNICAST
	b = nl.AppendAttr(b, unix.RTA_DST, []byte{192, 0, 2, 0})
	b = nl.AppendAttr(b, unix.RTA_GATEWAY, []byte{10, 0, 0, 1})
	b = nl.AppendAttr(b, unix.RTA_OIF, u32(3))
	if edit != nil {
		b = edit(b)
	}
	return b
}

func with(typ uint16, v []byte) func([]byte) []byte {
	return func(b []byte) []byte { return nl.AppendAttr(b, typ, v) }
}

func TestParseRoute(t *testing.T) {
	plain := Route{Table: unix.RT_TABLE_MAIN, Dst: netip.MustParsePrefix("192.0.2.0/24"), Protocol: unix.RTPROT_STATIC,
		Via: Via{Type: unix.RTN_UNICAST, OIF: 3, Gateway: netip.MustParseAddr("10.0.0.1")}}
	edited := func(f func(*Route)) *Route { r := plain; f(&r); return &r }
	odd := func(o Odd) *Route { return edited(func(r *Route) { r.Via.Odd = o }) }
	mtu := func(lock uint32, n uint32) []byte {
		return nl.AppendAttr(nl.AppendAttr(nil, unix.RTAX_LOCK, u32(lock)), unix.RTAX_MTU, u32(n))
	}
	cases := []struct {
		name string
		edit func([]byte) []byte
		want *Route // nil: not a route
	}{
		{"plain", nil, &plain},
		{"table above 255", with(unix.RTA_TABLE, u32(1000)), edited(func(r *Route) { r.Table = 1000 })},
		{"metric", with(unix.RTA_PRIORITY, u32(42)), edited(func(r *Route) { r.Metric = 42 })},
		{"preferred source", with(unix.RTA_PREFSRC, []byte{10, 0, 0, 9}), &plain},
		{"mtu", with(unix.RTA_METRICS, mtu(0, 1400)), edited(func(r *Route) { r.Via.MTU = 1400 })},
		{"locked mtu", with(unix.RTA_METRICS, mtu(1<<unix.RTAX_MTU, 1400)), edited(func(r *Route) { r.Via.MTU, r.Via.Locked = 1400, true })},
		{"lock of another metric", with(unix.RTA_METRICS, mtu(1<<unix.RTAX_WINDOW, 1400)), edited(func(r *Route) { r.Via.MTU = 1400 })},
		{"lock without a value", with(unix.RTA_METRICS, mtu(1<<unix.RTAX_MTU, 0)), edited(func(r *Route) { r.Via.Locked, r.Via.Odd = true, OddMetrics })},
		{"realm", with(unix.RTA_FLOW, u32(5)), edited(func(r *Route) { r.Via.Realm = true })},
		{"tos", func(b []byte) []byte { b[3] = 0x10; return b }, edited(func(r *Route) { r.TOS = 0x10 })},
		{"multipath", with(unix.RTA_MULTIPATH, nil), odd(OddMultipath)},
		{"next hop object, written out", with(rtaNHID, u32(7)), &plain},
		{"next hop object alone", func(b []byte) []byte { return nl.AppendAttr(b[:sizeofRtmsg], rtaNHID, u32(7)) },
			edited(func(r *Route) {
				r.Dst = netip.MustParsePrefix("0.0.0.0/24")
				r.Via = Via{Type: unix.RTN_UNICAST, Odd: OddNextHop}
			})},
		{"encap", with(unix.RTA_ENCAP, nil), odd(OddEncap)},
		{"encap type", with(unix.RTA_ENCAP_TYPE, []byte{1, 0}), odd(OddEncap)},
		{"input interface", with(unix.RTA_IIF, u32(2)), odd(OddInput)},
		{"label", with(unix.RTA_NEWDST, u32(2)), odd(OddLabel)},
		{"source prefix", func(b []byte) []byte { b[2] = 8; return b }, odd(OddSource)},
		{"unknown attribute", with(99, nil), odd(OddUnknown)},
		{"dead", func(b []byte) []byte { b[8] = unix.RTNH_F_DEAD; return b }, odd(OddFlags)},
		{"link down", func(b []byte) []byte { b[8] = unix.RTNH_F_LINKDOWN; return b }, &plain}, // the port's state says it
		{"on link", func(b []byte) []byte { b[8] = unix.RTNH_F_ONLINK; return b }, &plain},
		{"IPv6 gateway", with(unix.RTA_VIA, append([]byte{unix.AF_INET6, 0}, make([]byte, 16)...)), edited(func(r *Route) { r.Via.Gateway = netip.IPv6Unspecified() })},
		{"gateway of nowhere", with(unix.RTA_VIA, []byte{1, 0, 2, 3}), edited(func(r *Route) { r.Via.Gateway, r.Via.Odd = netip.Addr{}, OddUnknown })},
		{"lifetime", with(unix.RTA_CACHEINFO, append(make([]byte, 8), u32(300)...)), edited(func(r *Route) { r.Lifetime = 3 * time.Second })},
		{"host bits", func(b []byte) []byte { b[1] = 16; return b }, edited(func(r *Route) { r.Dst = netip.MustParsePrefix("192.0.0.0/16") })},
		{"clone", func(b []byte) []byte { b[9] = unix.RTM_F_CLONED >> 8; return b }, nil},
		{"another family", func(b []byte) []byte { b[0] = 28; return b }, nil},
		{"too long a prefix", func(b []byte) []byte { b[1] = 33; return b }, nil},
		{"address too short", with(unix.RTA_DST, []byte{1, 2}), nil},
		{"attribute that lies", func(b []byte) []byte { return append(b, 200, 0, 1, 0) }, nil},
		{"no header", func(b []byte) []byte { return b[:4] }, nil},
	}
	for _, c := range cases {
		got, ok := ParseRoute(route4(c.edit))
		switch {
		case c.want == nil && ok:
			t.Errorf("%s: taken for %+v", c.name, got)
		case c.want != nil && (!ok || got != *c.want):
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, ok, *c.want)
		}
	}
}

func neighbour4(state uint16, flags byte, mac []byte) []byte {
	b := make([]byte, unix.SizeofNdMsg)
	b[0], b[4], b[10] = unix.AF_INET, 3, flags
	binary.NativeEndian.PutUint16(b[8:], state)
	b = nl.AppendAttr(b, unix.NDA_DST, []byte{10, 0, 0, 1})
	return nl.AppendAttr(b, unix.NDA_LLADDR, mac)
}

func TestParseNeighbour(t *testing.T) {
	mac := []byte{2, 0, 0, 0, 0, 9}
	for _, c := range []struct {
		name         string
		b            []byte
		ok           bool
		valid, stale bool
	}{
		{"reachable", neighbour4(unix.NUD_REACHABLE, 0, mac), true, true, false},
		{"permanent", neighbour4(unix.NUD_PERMANENT, 0, mac), true, true, false},
		{"no ARP", neighbour4(unix.NUD_NOARP, 0, mac), true, true, false},
		{"stale", neighbour4(unix.NUD_STALE, 0, mac), true, true, true},
		{"delay", neighbour4(unix.NUD_DELAY, 0, mac), true, true, true},
		{"probe", neighbour4(unix.NUD_PROBE, 0, mac), true, true, true},
		{"incomplete", neighbour4(unix.NUD_INCOMPLETE, 0, mac), true, false, false},
		{"failed", neighbour4(unix.NUD_FAILED, 0, mac), true, false, false},
		{"none", neighbour4(0, 0, mac), true, false, false},
		{"address of eight bytes", neighbour4(unix.NUD_REACHABLE, 0, make([]byte, 8)), true, false, false},
		{"proxy", neighbour4(unix.NUD_PERMANENT, unix.NTF_PROXY, mac), false, false, false},
		{"bridge", append([]byte{unix.AF_BRIDGE}, neighbour4(unix.NUD_REACHABLE, 0, mac)[1:]...), false, false, false},
		{"short", make([]byte, 5), false, false, false},
	} {
		n, ok := ParseNeighbour(c.b)
		if ok != c.ok || n.Valid != c.valid || n.Stale != c.stale {
			t.Errorf("%s: %+v, %v", c.name, n, ok)
		}
		if c.valid && (n.MAC != [6]byte(mac) || n.IfIndex != 3 || n.Addr != netip.MustParseAddr("10.0.0.1")) {
			t.Errorf("%s: %+v", c.name, n)
		}
	}
	n, ok := ParseNeighbour(AppendUse(nil, 7, netip.MustParseAddr("fe80::1")))
	if !ok || n.IfIndex != 7 || n.Addr != netip.MustParseAddr("fe80::1") {
		t.Errorf("AppendUse reads back as %+v, %v", n, ok)
	}
}

func address4(b []byte) []byte {
	b = append(b, unix.AF_INET, 24, 0, 0, 3, 0, 0, 0)
	b = nl.AppendAttr(b, unix.IFA_ADDRESS, []byte{10, 0, 0, 2})
	return nl.AppendAttr(b, unix.IFA_LOCAL, []byte{10, 0, 0, 1})
}

func TestParseAddress(t *testing.T) {
	a, ok := ParseAddress(address4(nil)) // point to point: the peer's comes first
	if !ok || a.Addr != netip.MustParseAddr("10.0.0.1") || a.IfIndex != 3 || a.Bits != 24 {
		t.Errorf("%+v, %v", a, ok)
	}
}

func link(name string, flags uint32) []byte {
	b := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint16(b[2:], unix.ARPHRD_ETHER)
	putU32(b[4:], 3)
	putU32(b[8:], flags)
	b = nl.AppendAttr(b, unix.IFLA_IFNAME, []byte(name+"\x00"))
	b = nl.AppendAttr(b, unix.IFLA_ADDRESS, []byte{2, 0, 0, 0, 0, 1})
	b = nl.AppendAttr(b, unix.IFLA_MTU, u32(1500))
	b = nl.AppendAttr(b, unix.IFLA_LINKINFO, nl.AppendAttr(nil, unix.IFLA_INFO_KIND, []byte("veth\x00")))
	conf := nl.AppendAttr(nil, unix.IFLA_INET_CONF, u32(1))
	return nl.AppendAttr(b, unix.IFLA_AF_SPEC, nl.AppendAttr(nil, unix.AF_INET, conf))
}

func TestParseLink(t *testing.T) {
	l, ok := ParseLink(link("lan", unix.IFF_UP|unix.IFF_RUNNING|unix.IFF_LOWER_UP))
	if !ok || l.Name != "lan" || l.Index != 3 || l.MTU != 1500 || l.MAC != [6]byte{2, 5: 1} || l.Kind != "veth" || len(l.Conf4) != 4 || !l.Up() {
		t.Errorf("%+v, %v", l, ok)
	}
	for _, flags := range []uint32{0, unix.IFF_UP, unix.IFF_UP | unix.IFF_LOWER_UP, unix.IFF_RUNNING | unix.IFF_LOWER_UP} {
		if l, _ := ParseLink(link("lan", flags)); l.Up() {
			t.Errorf("flags %#x count as up", flags)
		}
	}
}

// FuzzParse: no bytes make a decoder panic, or yield what others cannot rely on.
func FuzzParse(f *testing.F) {
	f.Add(route4(nil))
	f.Add(route4(with(unix.RTA_METRICS, nl.AppendAttr(nil, unix.RTAX_MTU, u32(1400)))))
	f.Add(route4(with(unix.RTA_VIA, append([]byte{unix.AF_INET6, 0}, make([]byte, 16)...))))
	f.Add(neighbour4(unix.NUD_STALE, 0, make([]byte, 6)))
	f.Add(address4(nil))
	f.Add(link("wan", unix.IFF_UP))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, ok := ParseRoute(b); ok {
			if !r.Dst.IsValid() || r.Dst != r.Dst.Masked() || r.Dst.Addr().Is4In6() && r.Dst.Addr().Is4() {
				t.Errorf("prefix %v", r.Dst)
			}
		}
		if n, ok := ParseNeighbour(b); ok && (!n.Addr.IsValid() || n.Stale && !n.Valid) {
			t.Errorf("neighbour %+v", n)
		}
		if a, ok := ParseAddress(b); ok && !a.Addr.IsValid() {
			t.Errorf("address %+v", a)
		}
		if l, ok := ParseLink(b); ok && l.Index == 0 {
			t.Errorf("link %+v", l)
		}
	})
}

func TestParseAllocatesNothing(t *testing.T) {
	b, n := route4(nil), neighbour4(unix.NUD_STALE, 0, make([]byte, 6))
	if got := testing.AllocsPerRun(100, func() { ParseRoute(b); ParseNeighbour(n) }); got != 0 {
		t.Errorf("%v allocations for a route and a neighbour", got)
	}
}
