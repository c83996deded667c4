package rib

import (
	"net/netip"
	"unique"

	"github.com/gaissmai/bart"
	"golang.org/x/sys/unix"

	"weir/netstack/fib"
	"weir/netstack/frame"
	"weir/netstack/mirror/rtnl"
	"weir/netstack/snapshot"
)

// RIB is the routing information base. Make it with New.
type RIB struct {
	nodes bart.Table[*node] // prefixes that tables local or main hold
	// wide are the prefixes of table local that are shorter than a host's.
	wide  bart.Table[struct{}]
	hosts bart.Table[[]*neighbour] // neighbours by host prefix, at most one per interface

	neighbours map[neighbourKey]*neighbour
	ports      []Port
	byIndex    map[uint32]frame.PortID

	gen        [2]uint32 // of the last dump, by family
	neighGen   uint32
	realms     int
	unsure     [2]bool // by family: events left a doubt
	ownLocal   bool
	dirty      map[netip.Prefix]struct{}
	dirtyOrder []netip.Prefix

	hops  hops
	table *fib.Table
}

// node is what the tables hold for one prefix.
type node struct{ entries []entry }

// entry is a route. A table has at most one per (table, TOS, metric) here; where
// the kernel holds several, doubt is set and the prefix is the kernel's until a
// dump shows one again.
type entry struct {
	via    unique.Handle[rtnl.Via]
	metric uint32
	gen    uint32
	tos    byte
	local  bool // table local, else main
	doubt  bool
}

type neighbourKey struct {
	ifIndex uint32
	addr    netip.Addr
}

// neighbour is what is known of a neighbour, or nothing but that next hops wait
// for it.
type neighbour struct {
	key   neighbourKey
	mac   [6]byte
	valid bool
	stale bool
	known bool // the kernel has an entry
	gen   uint32
	hops  []uint32 // ids of the next hops through it
}

// Port is what next hops need to know of a port.
type Port struct {
	IfIndex uint32 // 0: there is no such interface now
	MAC     [6]byte
	// MTU4 and MTU6 are the largest packets of each family in bytes.
	MTU4, MTU6 uint32
	// Out says that Weir may send by this port; otherwise its next hops are the
	// kernel's (frame.ReasonOutSlow).
	Out bool
}

// New makes an empty RIB for a number of ports and at most maxHops next hops.
func New(ports, maxHops int) *RIB {
	r := &RIB{
		neighbours: make(map[neighbourKey]*neighbour),
		ports:      make([]Port, ports),
		byIndex:    make(map[uint32]frame.PortID),
		dirty:      make(map[netip.Prefix]struct{}),
		table:      fib.New(),
	}
	r.hops.init(maxHops)
	return r
}

// SetPort sets what is known of a port.
func (r *RIB) SetPort(id frame.PortID, p Port) {
	old := r.ports[id]
	if old == p {
		return
	}
	r.ports[id] = p
	if old.IfIndex != p.IfIndex {
		if old.IfIndex != 0 && r.byIndex[old.IfIndex] == id {
			delete(r.byIndex, old.IfIndex)
		}
		if p.IfIndex != 0 {
			r.byIndex[p.IfIndex] = id
		}
		r.touchAll()
	}
	r.hops.touchPort(id)
}

// Realms says whether an IPv4 route has a realm.
func (r *RIB) Realms() bool { return r.realms > 0 }

// OwnLocal says whether somebody other than the kernel ever put an IPv4 route of
// type local into a table. From then on the kernel looks sources up
// (fib_has_custom_local_routes, never cleared, net/ipv4/fib_frontend.c).
func (r *RIB) OwnLocal() bool { return r.ownLocal }

// Unsure says whether events left a prefix of a family (unix.AF_INET, AF_INET6)
// in a doubt that a new dump may clear.
func (r *RIB) Unsure(family int) bool { return r.unsure[index(family)] }

func (r *RIB) touch(p netip.Prefix) {
	if _, ok := r.dirty[p]; !ok {
		r.dirty[p] = struct{}{}
		r.dirtyOrder = append(r.dirtyOrder, p)
	}
}

// touchUnder marks what depends on a prefix: itself, the neighbours in it and,
// when table local changed, the prefixes in it.
func (r *RIB) touchUnder(p netip.Prefix, local bool) {
	r.touch(p)
	if p.IsSingleIP() {
		return
	}
	for q := range r.hosts.Subnets(p) {
		r.touch(q)
	}
	if local {
		for q := range r.nodes.Subnets(p) {
			r.touch(q)
		}
	}
}

func (r *RIB) touchAll() {
	for p := range r.nodes.All() {
		r.touch(p)
	}
	for p := range r.hosts.All() {
		r.touch(p)
	}
}

func familyOf(p netip.Prefix) int {
	if p.Addr().Is6() {
		return 1
	}
	return 0
}

// Result is a consistent view for a Snapshot.
type Result struct {
	FIB      *fib.Table
	NextHops []snapshot.NextHop
	// Changed are the prefixes whose next hop id changed; HopsChanged says that
	// NextHops differs from last time.
	Changed     []netip.Prefix
	HopsChanged bool
}

// tableLocal tells the two tables that count from all others, which only rules
// lead to (and rules beyond the default put a port on the kernel path). Table
// default is asked only where main has no match, and "no match" is left to the
// kernel already.
func tableLocal(table uint32) (local, ok bool) {
	switch table {
	case unix.RT_TABLE_LOCAL:
		return true, true
	case unix.RT_TABLE_MAIN:
		return false, true
	}
	return false, false
}
