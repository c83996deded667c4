package policy

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/rtnl"
)

// Hooks: enum nf_inet_hooks and nf_dev_hooks, include/uapi/linux/netfilter.h.
const (
	hookPrerouting  = 0
	hookForward     = 2
	hookPostrouting = 4
	hookInetIngress = 5

	hookDevIngress = 0
	hookDevEgress  = 1
)

var familyNames = map[byte]string{
	unix.NFPROTO_INET: "inet", unix.NFPROTO_IPV4: "ip", unix.NFPROTO_ARP: "arp",
	unix.NFPROTO_NETDEV: "netdev", unix.NFPROTO_BRIDGE: "bridge", unix.NFPROTO_IPV6: "ip6",
}

func (f *Facts) judgeNetfilter(l *rtnl.Link, v *Verdict) {
	if err := f.Failed[FromNFTables]; err != nil {
		v.both("cannot read %s: %v", FromNFTables, err)
	}
	for i := range f.Chains {
		c := &f.Chains[i]
		if c.Uses == 0 && c.Accept {
			continue // empty, and lets everything pass
		}
		words := fmt.Sprintf("nftables chain %s %s/%s", familyNames[c.Family], c.Table, c.Name)
		routed := c.Hook == hookPrerouting || c.Hook == hookForward || c.Hook == hookPostrouting
		switch c.Family {
		case unix.NFPROTO_IPV4:
			if routed {
				v.v4("%s", words)
			}
		case unix.NFPROTO_IPV6:
			if routed {
				v.v6("%s", words)
			}
		case unix.NFPROTO_INET:
			if routed || c.Hook == hookInetIngress && c.on(l.Name) {
				v.v4("%s", words)
				v.v6("%s", words)
			}
		case unix.NFPROTO_NETDEV:
			switch {
			case !c.on(l.Name):
			case c.Hook == hookDevEgress:
				v.out("%s", words)
			default:
				v.both("%s", words)
			}
		case unix.NFPROTO_ARP, unix.NFPROTO_BRIDGE:
			// ARP is the kernel's anyway, and so is a port that belongs to a bridge.
		default:
			v.both("%s", words)
		}
	}
	if err := f.Failed[FromFlowtable]; err != nil {
		v.both("cannot read %s: %v", FromFlowtable, err)
	}
	for _, t := range f.Flowtables {
		if matches(t.Devices, l.Name) {
			v.both("nftables flowtable %s/%s", t.Table, t.Name)
		}
	}
	judge := func(from Source, tables []string, words string, say func(string, ...any)) {
		if err := f.Failed[from]; err != nil {
			say("cannot read %s: %v", from, err)
		}
		for _, t := range tables {
			say("%s table %s", words, t)
		}
	}
	judge(FromIPTables4, f.Tables4, "iptables", v.v4)
	judge(FromIPTables6, f.Tables6, "ip6tables", v.v6)
	f.judgeHooks(v)
}

// judgeHooks: what hooks into netfilter without a table of rules. Virtual
// services change the answers of their servers on the forward hook.
func (f *Facts) judgeHooks(v *Verdict) {
	if err := f.Failed[FromIPVS]; err != nil {
		v.both("cannot read %s: %v", FromIPVS, err)
	} else if f.IPVS > 0 {
		v.both("IPVS services: %d", f.IPVS)
	}
	if err := f.Failed[FromHooks]; err != nil {
		v.both("cannot read %s: %v", FromHooks, err)
	}
	for _, h := range f.Hooks {
		if h.Hook != hookPrerouting && h.Hook != hookForward && h.Hook != hookPostrouting {
			continue
		}
		if h.Family == unix.NFPROTO_IPV6 {
			v.v6("netfilter BPF program")
		} else {
			v.v4("netfilter BPF program")
		}
	}
}

// on says whether a chain that belongs to devices belongs to this one. A chain
// whose devices are not told belongs to all.
func (c *Chain) on(name string) bool { return len(c.Devices) == 0 || matches(c.Devices, name) }

func matches(devices []string, name string) bool {
	return slices.ContainsFunc(devices, func(d string) bool {
		if p, ok := strings.CutSuffix(d, "*"); ok {
			return strings.HasPrefix(name, p)
		}
		return d == name
	})
}
