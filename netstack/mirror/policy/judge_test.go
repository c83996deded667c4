package policy

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/rtnl"
)

// conf writes settings as the kernel does: n values, those named set.
func conf(n int, set map[int]uint32) []byte {
	b := make([]byte, 4*n)
	for i, v := range set {
		binary.NativeEndian.PutUint32(b[4*i:], v)
	}
	return b
}

const up = unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_LOWER_UP

// harmlessFacts are those of a router that the kernel asks nobody for.
func harmlessFacts() *Facts {
	f := &Facts{
		All6:   Conf{Forwarding: 1},
		Rules4: slices.Clone(defaultRules4), Rules6: slices.Clone(defaultRules6),
		Filters: map[Place]int{}, TCX: map[Place]int{}, Failed: map[Source]error{},
	}
	for i, name := range []string{"lan", "wan"} {
		f.Links = append(f.Links, rtnl.Link{Index: uint32(i + 1), Name: name, Type: unix.ARPHRD_ETHER, Flags: up, MTU: 1500,
			Conf4: conf(33, map[int]uint32{conf4Forwarding: 1}),
			Conf6: conf(60, map[int]uint32{conf6Forwarding: 1, conf6MTU: 1500})})
	}
	return f
}

func TestJudge(t *testing.T) {
	if v := harmlessFacts().Judge("lan"); !v.Fast4() || !v.Fast6() || len(v.Words()) > 0 || v.MTU6 != 1500 {
		t.Fatalf("a plain router is not fast: %+v", v)
	}
	cases := []struct {
		name  string
		edit  func(*Facts)
		where string // of "4", "6", "out": what is slow
		words string
	}{
		{"no such port", func(f *Facts) { f.Links[0].Name = "x" }, "4 6 out", "no interface lan"},
		{"not Ethernet", func(f *Facts) { f.Links[0].Type = 1 + unix.ARPHRD_ETHER }, "4 6 out", "not an Ethernet interface"},
		{"no IPv4 there", func(f *Facts) { f.Links[0].Conf4 = nil }, "4", "interface has no IPv4"},
		{"settings too short", func(f *Facts) { f.Links[0].Conf6 = f.Links[0].Conf6[:8] }, "6", "interface has no IPv6"},
		{"macsec elsewhere", func(f *Facts) {
			f.Links = append(f.Links, rtnl.Link{Index: 9, Name: "m", Kind: "macsec", Lower: 1, LowerElsewhere: true})
		}, "", ""},
		{"ipvlan", func(f *Facts) {
			f.Links = append(f.Links, rtnl.Link{Index: 9, Name: "i", Kind: "ipvlan", Lower: 1})
		}, "4 6", "ipvlan i takes frames from it"},
		{"vlan", func(f *Facts) {
			f.Links = append(f.Links, rtnl.Link{Index: 9, Name: "v", Kind: "vlan", Lower: 1})
		}, "", ""},
		{"same rule twice", func(f *Facts) { f.Rules4 = append(f.Rules4, f.Rules4[0]) }, "4", "a default ip rule is there twice"},
		{"default rule with a condition", func(f *Facts) { f.Rules6[1].Plain = false }, "6", "ip rule 32766"},
		{"shared block on clsact", func(f *Facts) { f.Qdiscs = []Qdisc{{IfIndex: 1, Kind: "clsact", Shared: true}} }, "4 6 out", "tc clsact has a shared block"},
		{"fq", func(f *Facts) { f.Qdiscs = []Qdisc{{IfIndex: 1, Kind: "fq"}} }, "", ""},
		{"paced fq", func(f *Facts) { f.Qdiscs = []Qdisc{{IfIndex: 1, Kind: "fq", Paced: true}} }, "out", "tc qdisc fq limits the rate"},
		{"a leaf that shapes", func(f *Facts) { f.Qdiscs = []Qdisc{{IfIndex: 1, Kind: "mq"}, {IfIndex: 1, Kind: "netem", Parent: 1}} }, "out", "tc qdisc netem"},
		{"a qdisc elsewhere", func(f *Facts) { f.Qdiscs = []Qdisc{{IfIndex: 2, Kind: "cake"}} }, "", ""},
		{"netdev chain with a prefix", func(f *Facts) {
			f.Chains = []Chain{{Family: unix.NFPROTO_NETDEV, Table: "t", Name: "c", Devices: []string{"la*"}, Uses: 1}}
		}, "4 6", "nftables chain netdev t/c"},
		{"netdev chain with another prefix", func(f *Facts) {
			f.Chains = []Chain{{Family: unix.NFPROTO_NETDEV, Devices: []string{"wa*"}, Uses: 1}}
		}, "", ""},
		{"bridge chain", func(f *Facts) { f.Chains = []Chain{{Family: unix.NFPROTO_BRIDGE, Uses: 1}} }, "", ""},
		{"chain of a family to come", func(f *Facts) { f.Chains = []Chain{{Family: 99, Uses: 1}} }, "4 6", "nftables chain"},
		{"flowtable", func(f *Facts) { f.Flowtables = []Flowtable{{Table: "t", Name: "f", Devices: []string{"wan", "lan"}}} }, "4 6", "nftables flowtable t/f"},
		{"iptables", func(f *Facts) { f.Tables4 = []string{"filter"} }, "4", "iptables table filter"},
		{"ip6tables", func(f *Facts) { f.Tables6 = []string{"mangle"} }, "6", "ip6tables table mangle"},
		{"IPVS", func(f *Facts) { f.IPVS = 2 }, "4 6", "IPVS services: 2"},
		{"netfilter BPF", func(f *Facts) { f.Hooks = []Hook{{unix.NFPROTO_IPV4, hookForward}} }, "4", "netfilter BPF program"},
		{"netfilter BPF for the box itself", func(f *Facts) { f.Hooks = []Hook{{unix.NFPROTO_IPV6, 1}} }, "", ""},
		{"xfrm", func(f *Facts) { f.Policies.IPv6 = 3 }, "6", "xfrm policies: 3"},

		{"links unread", failed(FromLinks), "4 6 out", "cannot read interfaces: no luck"},
		{"conf4 unread", failed(FromConf4), "4", "cannot read net.ipv4.conf: no luck"},
		{"conf6 unread", failed(FromConf6), "6", "cannot read net.ipv6.conf: no luck"},
		{"sysctls unread", failed(FromSysctl4), "4", "cannot read"},
		{"rules4 unread", failed(FromRules4), "4", "cannot read"},
		{"rules6 unread", failed(FromRules6), "6", "cannot read"},
		{"chains unread", failed(FromNFTables), "4 6", "cannot read"},
		{"flowtables unread", failed(FromFlowtable), "4 6", "cannot read"},
		{"iptables unread", failed(FromIPTables4), "4", "cannot read"},
		{"ip6tables unread", failed(FromIPTables6), "6", "cannot read"},
		{"xfrm unread", failed(FromXFRM), "4 6", "cannot read"},
		{"qdiscs unread", failed(FromQdiscs), "4 6 out", "cannot read"},
		{"filters unread", failed(FromFilters), "4 6 out", "cannot read"},
		{"tcx unread", failed(FromTCX), "4 6 out", "cannot read"},
		{"ipvs unread", failed(FromIPVS), "4 6", "cannot read"},
		{"hooks unread", failed(FromHooks), "4 6", "cannot read"},
	}
	for _, c := range cases {
		f := harmlessFacts()
		c.edit(f)
		v := f.Judge("lan")
		var where []string
		if !v.Fast4() {
			where = append(where, "4")
		}
		if !v.Fast6() {
			where = append(where, "6")
		}
		if len(v.Out) > 0 {
			where = append(where, "out")
		}
		words := strings.Join(v.Words(), "\n")
		if strings.Join(where, " ") != c.where || !strings.Contains(words, c.words) || (words == "") != (c.where == "") {
			t.Errorf("%s: slow for %q in words %q, want %q with %q", c.name, where, words, c.where, c.words)
		}
	}
}

func failed(s Source) func(*Facts) { return func(f *Facts) { f.Failed[s] = errors.New("no luck") } }
