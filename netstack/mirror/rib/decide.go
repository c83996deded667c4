package rib

import (
	"net/netip"

	"golang.org/x/sys/unix"

	"weir/netstack/frame"
	"weir/netstack/mirror/rtnl"
)

// answer is what a prefix's packets are to meet.
type answer struct {
	forward bool
	reason  frame.Reason // not forward: why the kernel decides
	key     hopKey       // forward
	// onLink: the prefix is connected to port key.port; each host in it is its
	// own next hop.
	onLink bool
}

func kernel(why frame.Reason) answer { return answer{reason: why} }

// decide works out what the FIB is to hold for a prefix; ok is false if nothing.
func (r *RIB) decide(p netip.Prefix) (a answer, ok bool) {
	if n, ok := r.nodes.Get(p); ok {
		return r.decideNode(p, n), true
	}
	hosts, ok := r.hosts.Get(p)
	if !ok {
		return a, false
	}
	cover, n, ok := r.nodes.LookupPrefixLPM(p)
	if !ok {
		return a, false
	}
	if a = r.decideNode(cover, n); !a.onLink {
		return a, false
	}
	for _, h := range hosts {
		if h.key.ifIndex == a.key.ifIndex && h.valid {
			a.forward, a.onLink = true, false
			a.key.addr = h.key.addr
			return a, true
		}
	}
	return a, false
}

// decideNode is the kernel's choice among the routes of one prefix.
//
// Table local comes first. IPv6 asks it before main (fib6_rule_lookup,
// net/ipv6/fib6_rules.c). IPv4 without rules of its own keeps both in one trie
// (fib_trie_table, net/ipv4/fib_trie.c): there a longer prefix of main beats a
// shorter one of local, and only at equal length local wins; but once a rule has
// been added, even if it is gone again, the tables are apart and local is asked
// first. Nothing tells which it is, so a prefix of main inside one of local is
// left to the kernel.
func (r *RIB) decideNode(p netip.Prefix, n *node) answer {
	if n.local() > 0 {
		return r.decideLocal(p, n)
	}
	for q := range r.wide.Supernets(p) {
		if q != p {
			return kernel(frame.ReasonKernelRoute)
		}
	}
	var best *entry
	for i := range n.entries {
		e := &n.entries[i]
		if e.tos != 0 || e.doubt {
			return kernel(frame.ReasonKernelRoute)
		}
		if best == nil || e.metric < best.metric {
			best = e
		}
	}
	return r.decideVia(p, best.via.Value())
}

func (r *RIB) decideLocal(p netip.Prefix, n *node) answer {
	var single *entry
	local, count := true, 0
	for i := range n.entries {
		e := &n.entries[i]
		if !e.local {
			continue
		}
		single = e
		count++
		switch e.via.Value().Type {
		case unix.RTN_LOCAL, unix.RTN_BROADCAST, unix.RTN_ANYCAST, unix.RTN_MULTICAST:
		default:
			local = false
		}
	}
	switch {
	case local:
		return kernel(frame.ReasonLocal)
	case count > 1 || single.doubt || single.tos != 0:
		return kernel(frame.ReasonKernelRoute)
	}
	for q := range r.wide.Supernets(p) {
		if q != p {
			return kernel(frame.ReasonKernelRoute)
		}
	}
	return r.decideVia(p, single.via.Value())
}

func (r *RIB) decideVia(p netip.Prefix, v rtnl.Via) answer {
	switch v.Type {
	case unix.RTN_UNICAST:
	case unix.RTN_LOCAL, unix.RTN_BROADCAST, unix.RTN_ANYCAST:
		return kernel(frame.ReasonLocal)
	case unix.RTN_UNREACHABLE:
		return kernel(frame.ReasonNoRoute)
	default:
		return kernel(frame.ReasonKernelRoute)
	}
	port, ours := r.byIndex[v.OIF]
	if v.Odd != 0 || !ours || p.Addr().Is6() && p.Addr().IsLinkLocalUnicast() {
		// Which link a link-local address is on depends on where the packet is.
		return kernel(frame.ReasonKernelRoute)
	}
	a := answer{key: hopKey{port: port, ifIndex: v.OIF, v6: p.Addr().Is6(), addr: v.Gateway}}
	// IPv4 takes the route's MTU as it is, IPv6 only a locked one
	// (ip_dst_mtu_maybe_forward, ip6_dst_mtu_maybe_forward).
	if !a.key.v6 || v.Locked {
		a.key.mtu = v.MTU
	}
	switch {
	case v.Gateway.IsValid():
		a.forward = true
	case p.IsSingleIP():
		a.forward, a.key.addr = true, p.Addr()
	default:
		a.onLink, a.reason = true, frame.ReasonUnresolved
	}
	return a
}
