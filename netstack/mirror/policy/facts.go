package policy

import "weir/netstack/mirror/rtnl"

// Facts are what was read at one moment.
type Facts struct {
	Links []rtnl.Link // Conf4 and Conf6 are copies
	// All4 and All6 are the settings of the pseudo-interface "all".
	All4, All6 Conf
	// Redirects4 is net.ipv4.conf.all.accept_redirects, UsePMTU
	// net.ipv4.ip_forward_use_pmtu.
	Redirects4, UsePMTU int
	Rules4, Rules6      []Rule
	Chains              []Chain
	Flowtables          []Flowtable
	Tables4, Tables6    []string // iptables (legacy) tables in use
	Policies            Policies
	Qdiscs              []Qdisc
	// Filters counts tc filters by interface and place.
	Filters map[Place]int
	// TCX counts tcx BPF programs by interface and direction.
	TCX map[Place]int
	// IPVS counts the lines of the table of virtual services.
	IPVS int
	// Hooks are netfilter BPF programs. In which network namespace they are, the
	// kernel does not tell.
	Hooks []Hook
	// Failed holds what could not be read, by source.
	Failed map[Source]error
}

// Source names a kind of fact, for errors.
type Source string

const (
	FromLinks     Source = "interfaces"
	FromConf4     Source = "net.ipv4.conf"
	FromConf6     Source = "net.ipv6.conf"
	FromSysctl4   Source = "net.ipv4 sysctls"
	FromRules4    Source = "ip rules"
	FromRules6    Source = "ip -6 rules"
	FromNFTables  Source = "nftables chains"
	FromFlowtable Source = "nftables flowtables"
	FromIPTables4 Source = "ip_tables_names"
	FromIPTables6 Source = "ip6_tables_names"
	FromXFRM      Source = "xfrm policies"
	FromQdiscs    Source = "tc qdiscs"
	FromFilters   Source = "tc filters"
	FromTCX       Source = "tcx programs"
	FromIPVS      Source = "ip_vs"
	FromHooks     Source = "netfilter BPF programs"
)

// Place is where a classifier sits.
type Place struct {
	IfIndex uint32
	Out     bool // on the way out, else in
}

// Conf are the settings of an interface, or of "all", that RTM_GETNETCONF tells.
type Conf struct {
	Forwarding, RPFilter, ProxyNeigh int
}

// Rule is an ip rule. Plain: it has a table and nothing else.
type Rule struct {
	Priority, Table uint32
	Plain           bool
}

// Chain is an nftables base chain.
type Chain struct {
	Family  byte // unix.NFPROTO_IPV4…
	Table   string
	Name    string
	Hook    uint32
	Devices []string
	Uses    uint32 // rules in it, and references to it
	Accept  bool   // its policy
}

// Flowtable is an nftables flowtable.
type Flowtable struct {
	Table, Name string
	Devices     []string
}

// Policies sums the xfrm policies up.
type Policies struct {
	IPv4, IPv6 int
	// Block names the directions ("in", "out", "fwd") whose default is to block.
	Block []string
}

// Qdisc is a queueing discipline.
type Qdisc struct {
	IfIndex        uint32
	Kind           string
	Handle, Parent uint32
	// Shared: its filters are in a block that other interfaces share.
	Shared bool
	// Paced: fq with a rate limit of its own.
	Paced bool
}

// Hook is a BPF program on a netfilter hook.
type Hook struct {
	Family byte // unix.NFPROTO_IPV4 or NFPROTO_IPV6
	Hook   uint32
}
