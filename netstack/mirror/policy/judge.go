package policy

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/nl"
	"weir/netstack/mirror/rtnl"
)

// Verdict is what stands between one port and the fast path.
type Verdict struct {
	// Both, V4 and V6 say why frames that arrive here are the kernel's: all of
	// them, IPv4's, IPv6's.
	Both, V4, V6 []string
	// Out says why no frame may leave here except through the kernel.
	Out []string
	// MTU6 is the port's IPv6 MTU (net.ipv6.conf.X.mtu), 0: unknown.
	MTU6 uint32
}

// Fast4 and Fast6 say whether nothing speaks against carrying a family.
func (v *Verdict) Fast4() bool { return len(v.Both) == 0 && len(v.V4) == 0 }

// Fast6 is Fast4 for IPv6.
func (v *Verdict) Fast6() bool { return len(v.Both) == 0 && len(v.V6) == 0 }

// Words lists the reasons for `weir status`, each with what it concerns.
func (v *Verdict) Words() []string {
	words := slices.Clone(v.Both)
	for _, w := range v.V4 {
		words = append(words, "ipv4: "+w)
	}
	for _, w := range v.V6 {
		words = append(words, "ipv6: "+w)
	}
	for _, w := range v.Out {
		words = append(words, "out: "+w)
	}
	return words
}

func (v *Verdict) both(f string, a ...any) { v.Both = append(v.Both, fmt.Sprintf(f, a...)) }
func (v *Verdict) v4(f string, a ...any)   { v.V4 = append(v.V4, fmt.Sprintf(f, a...)) }
func (v *Verdict) v6(f string, a ...any)   { v.V6 = append(v.V6, fmt.Sprintf(f, a...)) }
func (v *Verdict) out(f string, a ...any)  { v.Out = append(v.Out, fmt.Sprintf(f, a...)) }

// Judge gives the verdict on the interface called name.
func (f *Facts) Judge(name string) Verdict {
	var v Verdict
	if err := f.Failed[FromLinks]; err != nil {
		v.both("cannot read %s: %v", FromLinks, err)
		v.out("cannot read %s: %v", FromLinks, err)
		return v
	}
	i := slices.IndexFunc(f.Links, func(l rtnl.Link) bool { return l.Name == name })
	if i < 0 {
		v.both("no interface %s", name)
		v.out("no interface %s", name)
		return v
	}
	l := &f.Links[i]
	f.judgeLink(l, &v)
	f.judgeConf4(l, &v)
	f.judgeConf6(l, &v)
	f.judgeRules(&v)
	f.judgeNetfilter(l, &v)
	f.judgeXFRM(&v)
	f.judgeTC(l, &v)
	return v
}

func (f *Facts) judgeLink(l *rtnl.Link, v *Verdict) {
	stop := func(format string, a ...any) {
		v.both(format, a...)
		v.out(format, a...)
	}
	switch {
	case l.Flags&unix.IFF_UP == 0:
		stop("interface is down")
	case !l.Up():
		stop("no carrier")
	}
	if l.Type != unix.ARPHRD_ETHER {
		stop("not an Ethernet interface")
	}
	if l.Flags&unix.IFF_NOARP != 0 {
		v.out("interface has no ARP")
	}
	if l.Master != 0 {
		stop("belongs to %s", f.linkName(l.Master))
	}
	for i := range f.Links {
		up := &f.Links[i]
		if up.Lower != l.Index || up.LowerElsewhere {
			continue
		}
		switch up.Kind {
		case "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "hsr":
			v.both("%s %s takes frames from it", up.Kind, up.Name) // rx_handler, net/core/dev.c
		}
	}
}

func (f *Facts) linkName(index uint32) string {
	for i := range f.Links {
		if f.Links[i].Index == index {
			return f.Links[i].Name
		}
	}
	return fmt.Sprintf("interface %d", index)
}

// Places in the lists of settings: IPV4_DEVCONF_* - 1 (include/uapi/linux/ip.h)
// and DEVCONF_* (include/uapi/linux/ipv6.h).
const (
	conf4Forwarding      = 1 - 1
	conf4AcceptRedirects = 4 - 1
	conf4RPFilter        = 8 - 1

	conf6Forwarding  = 0
	conf6MTU         = 2
	conf6DisableIPv6 = 26
)

func setting(conf []byte, i int) (int, bool) {
	if len(conf) < 4*(i+1) {
		return 0, false
	}
	return int(int32(nl.U32(conf[4*i:]))), true
}

func (f *Facts) judgeConf4(l *rtnl.Link, v *Verdict) {
	forwarding, ok := setting(l.Conf4, conf4Forwarding)
	rpFilter, ok2 := setting(l.Conf4, conf4RPFilter)
	redirects, ok3 := setting(l.Conf4, conf4AcceptRedirects)
	if !ok || !ok2 || !ok3 {
		v.v4("interface has no IPv4")
		return
	}
	if err := f.Failed[FromConf4]; err != nil {
		v.v4("cannot read %s: %v", FromConf4, err)
		return
	}
	if forwarding == 0 {
		v.v4("net.ipv4.conf.%s.forwarding is 0", l.Name)
	}
	if rp := max(rpFilter, f.All4.RPFilter); rp != 0 {
		v.v4("rp_filter is %d: the kernel looks sources up", rp) // IN_DEV_RPFILTER: the larger of both
	}
	if err := f.Failed[FromSysctl4]; err != nil {
		v.v4("cannot read %s: %v", FromSysctl4, err)
		return
	}
	// A forwarding interface follows redirects only if both say so
	// (IN_DEV_RX_REDIRECTS); the exceptions they leave are in no routing table.
	if redirects != 0 && f.Redirects4 != 0 {
		v.v4("net.ipv4.conf.all.accept_redirects and %s's are on: set one to 0", l.Name)
	}
	if f.UsePMTU != 0 {
		v.v4("net.ipv4.ip_forward_use_pmtu is on")
	}
}

func (f *Facts) judgeConf6(l *rtnl.Link, v *Verdict) {
	forwarding, ok := setting(l.Conf6, conf6Forwarding)
	mtu, ok2 := setting(l.Conf6, conf6MTU)
	disabled, ok3 := setting(l.Conf6, conf6DisableIPv6)
	if !ok || !ok2 || !ok3 {
		v.v6("interface has no IPv6")
		return
	}
	v.MTU6 = uint32(max(mtu, 0))
	if err := f.Failed[FromConf6]; err != nil {
		v.v6("cannot read %s: %v", FromConf6, err)
		return
	}
	if disabled != 0 {
		v.v6("net.ipv6.conf.%s.disable_ipv6 is %d", l.Name, disabled)
	}
	if f.All6.Forwarding == 0 {
		v.v6("net.ipv6.conf.all.forwarding is 0")
	}
	// The kernel forwards by "all" alone, but treats an interface whose own
	// setting is 0 as a host's: it believes redirects and router advertisements.
	if forwarding == 0 {
		v.v6("net.ipv6.conf.%s.forwarding is 0", l.Name)
	}
	if f.All6.ProxyNeigh != 0 {
		v.v6("net.ipv6.conf.all.proxy_ndp is on") // ip6_forward asks for a proxy entry of each destination
	}
}

// The default rules, which the kernel makes (fib_default_rules_init,
// fib6_rules_net_init).
var (
	defaultRules4 = []Rule{{0, unix.RT_TABLE_LOCAL, true}, {32766, unix.RT_TABLE_MAIN, true}, {32767, unix.RT_TABLE_DEFAULT, true}}
	defaultRules6 = []Rule{{0, unix.RT_TABLE_LOCAL, true}, {32766, unix.RT_TABLE_MAIN, true}}
)

func (f *Facts) judgeRules(v *Verdict) {
	judge := func(from Source, have, want []Rule, say func(string, ...any)) {
		if err := f.Failed[from]; err != nil {
			say("cannot read %s: %v", from, err)
			return
		}
		for _, r := range have {
			if !slices.Contains(want, r) {
				say("ip rule %d", r.Priority)
			}
		}
		for _, r := range want {
			if !slices.Contains(have, r) {
				say("default ip rule %d is gone", r.Priority)
			}
		}
		if len(have) > len(want) && !slices.ContainsFunc(have, func(r Rule) bool { return !slices.Contains(want, r) }) {
			say("a default ip rule is there twice")
		}
	}
	judge(FromRules4, f.Rules4, defaultRules4, v.v4)
	judge(FromRules6, f.Rules6, defaultRules6, v.v6)
}

func (f *Facts) judgeXFRM(v *Verdict) {
	if err := f.Failed[FromXFRM]; err != nil {
		v.both("cannot read %s: %v", FromXFRM, err)
		return
	}
	if n := f.Policies.IPv4; n > 0 {
		v.v4("xfrm policies: %d", n)
	}
	if n := f.Policies.IPv6; n > 0 {
		v.v6("xfrm policies: %d", n)
	}
	for _, d := range f.Policies.Block {
		v.both("xfrm blocks %s by default", d)
	}
}
