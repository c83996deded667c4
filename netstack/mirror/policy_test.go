package mirror

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"weir/netstack/frame"
	"weir/netstack/snapshot"
)

// reason is one that keeps frames on the kernel path: what makes it, what ends
// it, and what `weir status` says meanwhile.
type reason struct {
	name    string
	do      func(*bed)
	undo    func(*bed) // nil: the kernel itself never forgets it
	lan     string     // words that lan's reasons must have; "": lan stays without
	slow4   bool       // lan is slow for IPv4
	slow6   bool
	wanSlow bool // wan is too
	// outSlow: nothing may leave by wan.
	outSlow bool
}

// TestPolicy makes and ends each reason in turn on one router, which is wholly
// fast in between.
func TestPolicy(t *testing.T) {
	b := newBed(t, nil)
	b.neigh("10.2.0.2 wan 02:00:00:00:00:02 permanent")
	b.add("0.0.0.0/0 via 10.2.0.2")
	fast := func(s *snapshot.Snapshot) bool {
		nh, ok := hop(s, "192.0.2.1")
		for _, p := range s.Ports {
			if !p.Fast4 || !p.Fast6 || len(p.Slow) > 0 {
				return false
			}
		}
		return ok && nh.Kind == snapshot.KindForward
	}
	b.wait("everything is fast at first", fast)
	for _, r := range slices.Concat(settingReasons, ruleReasons, netfilterReasons, tcReasons, linkReasons, foreverReasons) {
		read := b.m.Stats().Policies
		r.do(b)
		if r.lan == "" {
			b.wait(r.name+": the mirror has looked again", func(*snapshot.Snapshot) bool { return b.m.Stats().Policies > read })
		}
		b.wait(r.name+": it takes effect", func(s *snapshot.Snapshot) bool {
			lan, wan := s.Ports[0], s.Ports[1]
			nh, _ := hop(s, "192.0.2.1")
			words := strings.Join(lan.Slow, "\n")
			if r.outSlow {
				words = strings.Join(wan.Slow, "\n")
			}
			return lan.Fast4 != r.slow4 && lan.Fast6 != r.slow6 &&
				(wan.Fast4 && wan.Fast6) != r.wanSlow &&
				strings.Contains(words, r.lan) && (words == "") == (r.lan == "") &&
				(nh.Kind == snapshot.KindKernel && nh.Reason == frame.ReasonOutSlow) == r.outSlow
		})
		if r.undo != nil {
			r.undo(b)
			b.wait(r.name+": everything is fast again", fast)
		}
	}
}

func set(name, value string) func(*bed) { return func(b *bed) { b.Helper(); b.sysctl(name, value) } }

var settingReasons = []reason{
	{name: "forwarding off on the port", do: set("net/ipv4/conf/lan/forwarding", "0"), undo: set("net/ipv4/conf/lan/forwarding", "1"),
		lan: "ipv4: net.ipv4.conf.lan.forwarding is 0", slow4: true},
	{name: "ip_forward off", do: set("net/ipv4/ip_forward", "0"), undo: set("net/ipv4/ip_forward", "1"),
		lan: "ipv4: net.ipv4.conf.lan.forwarding is 0", slow4: true, wanSlow: true},
	{name: "IPv6 forwarding off", do: set("net/ipv6/conf/all/forwarding", "0"), undo: set("net/ipv6/conf/all/forwarding", "1"),
		lan: "ipv6: net.ipv6.conf.all.forwarding is 0", slow6: true, wanSlow: true},
	{name: "IPv6 forwarding off on the port", do: set("net/ipv6/conf/lan/forwarding", "0"), undo: set("net/ipv6/conf/lan/forwarding", "1"),
		lan: "ipv6: net.ipv6.conf.lan.forwarding is 0", slow6: true},
	{name: "IPv6 disabled", do: set("net/ipv6/conf/lan/disable_ipv6", "1"), undo: set("net/ipv6/conf/lan/disable_ipv6", "0"),
		lan: "ipv6: net.ipv6.conf.lan.disable_ipv6 is 1", slow6: true},
	{name: "strict rp_filter", do: set("net/ipv4/conf/lan/rp_filter", "1"), undo: set("net/ipv4/conf/lan/rp_filter", "0"),
		lan: "ipv4: rp_filter is 1", slow4: true},
	{name: "loose rp_filter for all", do: set("net/ipv4/conf/all/rp_filter", "2"), undo: set("net/ipv4/conf/all/rp_filter", "0"),
		lan: "ipv4: rp_filter is 2", slow4: true, wanSlow: true},
	{name: "redirects are followed", do: func(b *bed) {
		b.sysctl("net/ipv4/conf/lan/accept_redirects", "1")
		b.sysctl("net/ipv4/conf/wan/accept_redirects", "0")
		b.sysctl("net/ipv4/conf/all/accept_redirects", "1")
	}, undo: set("net/ipv4/conf/all/accept_redirects", "0"),
		lan: "ipv4: net.ipv4.conf.all.accept_redirects and lan's are on", slow4: true},
	{name: "learnt MTUs are used", do: set("net/ipv4/ip_forward_use_pmtu", "1"), undo: set("net/ipv4/ip_forward_use_pmtu", "0"),
		lan: "ipv4: net.ipv4.ip_forward_use_pmtu is on", slow4: true, wanSlow: true},
	{name: "ND proxy", do: set("net/ipv6/conf/all/proxy_ndp", "1"), undo: set("net/ipv6/conf/all/proxy_ndp", "0"),
		lan: "ipv6: net.ipv6.conf.all.proxy_ndp is on", slow6: true, wanSlow: true},
}

func rule(family, priority int) *netlink.Rule {
	r := netlink.NewRule()
	r.Family, r.Priority, r.Table = family, priority, 100
	return r
}

func defaultRule(family, priority, table int) *netlink.Rule {
	r := rule(family, priority)
	r.Table = table
	return r
}

func addRule(r *netlink.Rule) func(*bed) {
	return func(b *bed) { b.Helper(); b.must(netlink.RuleAdd(r)) }
}

func delRule(r *netlink.Rule) func(*bed) {
	return func(b *bed) { b.Helper(); b.must(netlink.RuleDel(r)) }
}

var ruleReasons = []reason{
	{name: "ip rule", do: addRule(rule(unix.AF_INET, 100)), undo: delRule(rule(unix.AF_INET, 100)),
		lan: "ipv4: ip rule 100", slow4: true, wanSlow: true},
	{name: "ip -6 rule", do: addRule(rule(unix.AF_INET6, 200)), undo: delRule(rule(unix.AF_INET6, 200)),
		lan: "ipv6: ip rule 200", slow6: true, wanSlow: true},
	{name: "a default rule is gone", do: delRule(defaultRule(unix.AF_INET, 32767, unix.RT_TABLE_DEFAULT)),
		undo: addRule(defaultRule(unix.AF_INET, 32767, unix.RT_TABLE_DEFAULT)),
		lan:  "ipv4: default ip rule 32767 is gone", slow4: true, wanSlow: true},
	{name: "xfrm policy", do: func(b *bed) { b.must(netlink.XfrmPolicyAdd(xfrmPolicy())) },
		undo: func(b *bed) { b.must(netlink.XfrmPolicyDel(xfrmPolicy())) },
		lan:  "ipv4: xfrm policies: 1", slow4: true, wanSlow: true},
	{name: "xfrm blocks by default", do: xfrmDefault(1), undo: xfrmDefault(2),
		lan: "xfrm blocks fwd by default", slow4: true, slow6: true, wanSlow: true},
	{name: "realms", do: func(b *bed) { b.add("198.51.100.0/24 via 10.2.0.2 realm 5") }, undo: func(b *bed) { b.del("198.51.100.0/24 via 10.2.0.2 realm 5") },
		lan: "ipv4: routes with realms", slow4: true, wanSlow: true},
}

var foreverReasons = []reason{
	{name: "local route by hand", do: func(b *bed) { b.add("198.51.100.0/24 dev lo table 255 type local") },
		lan: "ipv4: local routes were added by hand", slow4: true, wanSlow: true},
}

func xfrmPolicy() *netlink.XfrmPolicy {
	_, src, _ := net.ParseCIDR("203.0.113.0/24")
	_, dst, _ := net.ParseCIDR("198.51.100.0/24")
	return &netlink.XfrmPolicy{Src: src, Dst: dst, Dir: netlink.XFRM_DIR_FWD,
		Tmpls: []netlink.XfrmPolicyTmpl{{Src: net.IPv4(203, 0, 113, 1), Dst: net.IPv4(198, 51, 100, 1), Proto: netlink.XFRM_PROTO_ESP, Mode: netlink.XFRM_MODE_TUNNEL}}}
}

// xfrmDefault sets the default of forwarded packets: 1 block, 2 accept.
func xfrmDefault(fwd byte) func(*bed) {
	return func(b *bed) {
		b.Helper()
		const setDefault = 0x27 // XFRM_MSG_SETDEFAULT
		b.must(b.order(unix.NETLINK_XFRM, setDefault, 0, []byte{2, fwd, 2, 0}))
	}
}

// chain makes a table t with one base chain, with a counter rule or empty.
func chain(family nftables.TableFamily, hook *nftables.ChainHook, device string, policy nftables.ChainPolicy, rules int) func(*bed) {
	return func(b *bed) {
		b.Helper()
		c, err := nftables.New()
		b.must(err)
		t := c.AddTable(&nftables.Table{Family: family, Name: "t"})
		ch := c.AddChain(&nftables.Chain{Name: "c", Table: t, Hooknum: hook, Priority: nftables.ChainPriorityFilter,
			Type: nftables.ChainTypeFilter, Policy: &policy, Device: device})
		for range rules {
			c.AddRule(&nftables.Rule{Table: t, Chain: ch, Exprs: []expr.Any{&expr.Verdict{Kind: expr.VerdictAccept}}})
		}
		b.must(c.Flush())
	}
}

func noTable(family nftables.TableFamily) func(*bed) {
	return func(b *bed) {
		b.Helper()
		c, err := nftables.New()
		b.must(err)
		c.DelTable(&nftables.Table{Family: family, Name: "t"})
		b.must(c.Flush())
	}
}

const (
	drop   = nftables.ChainPolicyDrop
	accept = nftables.ChainPolicyAccept
)

var netfilterReasons = []reason{
	{name: "inet forward chain with a rule", do: chain(nftables.TableFamilyINet, nftables.ChainHookForward, "", accept, 1), undo: noTable(nftables.TableFamilyINet),
		lan: "ipv4: nftables chain inet t/c\nipv6: nftables chain inet t/c", slow4: true, slow6: true, wanSlow: true},
	{name: "inet forward chain, empty, policy drop", do: chain(nftables.TableFamilyINet, nftables.ChainHookForward, "", drop, 0), undo: noTable(nftables.TableFamilyINet),
		lan: "ipv4: nftables chain inet t/c", slow4: true, slow6: true, wanSlow: true},
	{name: "inet forward chain, empty, policy accept", do: chain(nftables.TableFamilyINet, nftables.ChainHookForward, "", accept, 0), undo: noTable(nftables.TableFamilyINet)},
	{name: "inet input chain", do: chain(nftables.TableFamilyINet, nftables.ChainHookInput, "", drop, 1), undo: noTable(nftables.TableFamilyINet)},
	{name: "ip prerouting chain", do: chain(nftables.TableFamilyIPv4, nftables.ChainHookPrerouting, "", accept, 1), undo: noTable(nftables.TableFamilyIPv4),
		lan: "ipv4: nftables chain ip t/c", slow4: true, wanSlow: true},
	{name: "ip6 postrouting chain", do: chain(nftables.TableFamilyIPv6, nftables.ChainHookPostrouting, "", accept, 2), undo: noTable(nftables.TableFamilyIPv6),
		lan: "ipv6: nftables chain ip6 t/c", slow6: true, wanSlow: true},
	{name: "netdev ingress chain", do: chain(nftables.TableFamilyNetdev, nftables.ChainHookIngress, "lan", accept, 1), undo: noTable(nftables.TableFamilyNetdev),
		lan: "nftables chain netdev t/c", slow4: true, slow6: true},
	{name: "netdev ingress chain elsewhere", do: chain(nftables.TableFamilyNetdev, nftables.ChainHookIngress, "lanp", drop, 0), undo: noTable(nftables.TableFamilyNetdev)},
	{name: "netdev egress chain", do: chain(nftables.TableFamilyNetdev, nftables.ChainHookEgress, "wan", accept, 1), undo: noTable(nftables.TableFamilyNetdev),
		lan: "out: nftables chain netdev t/c", outSlow: true},
	{name: "inet ingress chain", do: chain(nftables.TableFamilyINet, nftables.ChainHookRef(5), "lan", accept, 1), undo: noTable(nftables.TableFamilyINet),
		lan: "ipv4: nftables chain inet t/c", slow4: true, slow6: true},
	{name: "rule added to an empty chain", do: func(b *bed) {
		chain(nftables.TableFamilyINet, nftables.ChainHookForward, "", accept, 0)(b)
		chain(nftables.TableFamilyINet, nftables.ChainHookForward, "", accept, 1)(b)
	}, undo: noTable(nftables.TableFamilyINet),
		lan: "ipv4: nftables chain inet t/c", slow4: true, slow6: true, wanSlow: true},
}

func TestFlowtable(t *testing.T) {
	b := newBed(t, nil)
	b.wait("fast at first", func(s *snapshot.Snapshot) bool { return s.Ports[0].Fast4 })
	c, err := nftables.New()
	b.must(err)
	tab := c.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: "t"})
	c.AddFlowtable(&nftables.Flowtable{Table: tab, Name: "f", Devices: []string{"lan"},
		Hooknum: nftables.FlowtableHookIngress, Priority: nftables.FlowtablePriorityRef(nftables.FlowtablePriority(0))})
	if err := c.Flush(); errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOENT) {
		t.Skip("the kernel has no flowtables: the same test runs in the guests, whose kernel has")
	} else {
		b.must(err)
	}
	b.wait("the flowtable is a reason", func(s *snapshot.Snapshot) bool {
		return slices.Contains(s.Ports[0].Slow, "nftables flowtable t/f") && !s.Ports[0].Fast4 && !s.Ports[0].Fast6 && s.Ports[1].Fast4
	})
	noTable(nftables.TableFamilyINet)(b)
	b.wait("it is none any more", func(s *snapshot.Snapshot) bool { return s.Ports[0].Fast4 })
}

func clsact(b *bed, dev string) netlink.Qdisc {
	return &netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: b.index(dev), Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT}}
}

// filter adds a classifier that matches nothing much: u32, without an action.
func filter(b *bed, dev string, parent uint32) {
	b.Helper()
	b.must(netlink.FilterAdd(&netlink.U32{
		FilterAttrs: netlink.FilterAttrs{LinkIndex: b.index(dev), Parent: parent, Priority: 1, Protocol: unix.ETH_P_ALL},
		ClassId:     netlink.MakeHandle(1, 1),
	}))
}

func root(b *bed, dev string) netlink.QdiscAttrs {
	return netlink.QdiscAttrs{LinkIndex: b.index(dev), Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}
}

func tbf(b *bed) netlink.Qdisc {
	return &netlink.Tbf{QdiscAttrs: root(b, "wan"), Rate: 1 << 20, Limit: 1 << 16, Buffer: 1 << 16}
}

var tcReasons = []reason{
	{name: "clsact without a filter", do: func(b *bed) { b.must(netlink.QdiscAdd(clsact(b, "lan"))) },
		undo: func(b *bed) { b.must(netlink.QdiscDel(clsact(b, "lan"))) }},
	{name: "tc filter on ingress", do: func(b *bed) {
		b.must(netlink.QdiscAdd(clsact(b, "lan")))
		filter(b, "lan", netlink.HANDLE_MIN_INGRESS)
	}, undo: func(b *bed) { b.must(netlink.QdiscDel(clsact(b, "lan"))) },
		lan: "tc filters: ", slow4: true, slow6: true},
	{name: "tc filter on egress", do: func(b *bed) {
		b.must(netlink.QdiscAdd(clsact(b, "wan")))
		filter(b, "wan", netlink.HANDLE_MIN_EGRESS)
	}, undo: func(b *bed) { b.must(netlink.QdiscDel(clsact(b, "wan"))) },
		lan: "out: tc filters: ", outSlow: true},
	{name: "tbf", do: func(b *bed) { b.must(netlink.QdiscAdd(tbf(b))) }, undo: func(b *bed) { b.must(netlink.QdiscDel(tbf(b))) },
		lan: "out: tc qdisc tbf", outSlow: true},
	{name: "htb", do: func(b *bed) { b.must(netlink.QdiscAdd(netlink.NewHtb(root(b, "wan")))) },
		undo: func(b *bed) { b.must(netlink.QdiscDel(netlink.NewHtb(root(b, "wan")))) },
		lan:  "out: tc qdisc htb", outSlow: true},
	{name: "pfifo", do: func(b *bed) {
		b.must(netlink.QdiscAdd(&netlink.GenericQdisc{QdiscAttrs: root(b, "wan"), QdiscType: "pfifo"}))
	}, undo: func(b *bed) {
		b.must(netlink.QdiscDel(&netlink.GenericQdisc{QdiscAttrs: root(b, "wan"), QdiscType: "pfifo"}))
	}},
	tcx("lan", ebpf.AttachTCXIngress, reason{name: "tcx program on ingress", lan: "tcx programs: 1", slow4: true, slow6: true}),
	tcx("wan", ebpf.AttachTCXEgress, reason{name: "tcx program on egress", lan: "out: tcx programs: 1", outSlow: true}),
}

func tcx(dev string, at ebpf.AttachType, r reason) reason {
	var l link.Link
	r.do = func(b *bed) {
		b.Helper()
		p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SchedCLS, License: "GPL",
			Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, -1), asm.Return()}}) // TCX_NEXT
		b.must(err)
		defer p.Close()
		l, err = link.AttachTCX(link.TCXOptions{Interface: b.index(dev), Program: p, Attach: at})
		b.must(err)
	}
	r.undo = func(b *bed) { b.Helper(); b.must(l.Close()) }
	return r
}

var linkReasons = []reason{
	{name: "down", do: func(b *bed) { b.down("lan") }, undo: func(b *bed) { b.up("lan") }, lan: "interface is down", slow4: true, slow6: true},
	{name: "no carrier", do: func(b *bed) { b.down("lanp") }, undo: func(b *bed) { b.up("lanp") }, lan: "no carrier", slow4: true, slow6: true},
	{name: "out port without carrier", do: func(b *bed) { b.down("wanp") }, undo: func(b *bed) { b.up("wanp") }, wanSlow: true, outSlow: true, lan: "no carrier"},
	{name: "bridge port", do: func(b *bed) {
		b.must(netlink.LinkAdd(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "br0"}}))
		b.must(netlink.LinkSetMaster(b.link("lan"), b.link("br0")))
	}, undo: func(b *bed) { b.must(netlink.LinkDel(b.link("br0"))) },
		lan: "belongs to br0", slow4: true, slow6: true},
	{name: "macvlan on top", do: func(b *bed) {
		b.must(netlink.LinkAdd(&netlink.Macvlan{LinkAttrs: netlink.LinkAttrs{Name: "mv0", ParentIndex: b.index("lan")}, Mode: netlink.MACVLAN_MODE_BRIDGE}))
	}, undo: func(b *bed) { b.must(netlink.LinkDel(b.link("mv0"))) },
		lan: "macvlan mv0 takes frames from it", slow4: true, slow6: true},
	{name: "no ARP", do: func(b *bed) { b.must(netlink.LinkSetARPOff(b.link("wan"))) }, undo: func(b *bed) {
		b.must(netlink.LinkSetARPOn(b.link("wan")))
		b.neigh("10.2.0.2 wan 02:00:00:00:00:02 permanent")
	}, lan: "out: interface has no ARP", outSlow: true},
}

// TestUnreadable: what cannot be read is a reason, with what and why.
func TestUnreadable(t *testing.T) {
	b := newBed(t, nil)
	b.wait("fast at first", func(s *snapshot.Snapshot) bool { return s.Ports[0].Fast4 })
	// The reader's own socket goes away under it: every dump fails from now on.
	b.m.thread.do(func() { b.m.reader.Close() })
	b.wait("both families are the kernel's", func(s *snapshot.Snapshot) bool {
		return !s.Ports[0].Fast4 && !s.Ports[0].Fast6 && strings.Contains(strings.Join(s.Ports[0].Slow, ""), "cannot read interfaces: ")
	})
}
