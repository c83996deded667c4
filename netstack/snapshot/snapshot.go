package snapshot

import (
	"weir/netstack/fib"
	"weir/netstack/frame"
)

// Snapshot is the kernel's forwarding state at one moment.
type Snapshot struct {
	// Generation counts published snapshots from 1.
	Generation uint64
	// Ports by frame.PortID. An entry whose IfIndex is 0 is unused.
	Ports []Port
	// FIB maps a destination to an index into NextHops. It holds the kernel's
	// routes, its local and broadcast addresses (next hops of KindKernel), and
	// one host route per resolved neighbour on a connected prefix, so that one
	// longest-prefix match is the whole decision. An address without an entry has
	// no route.
	FIB *fib.Table
	// NextHops by id. Ids are stable: an entry may change from one Snapshot to
	// the next, but an id is reused for another next hop only after a Snapshot in
	// which nothing referred to it. Entry 0 is always the zero NextHop.
	NextHops []NextHop
	// Local4 is the set of the router's own IPv4 addresses (those the kernel's
	// interfaces hold; not 127.0.0.0/8, which is never routed anyway): a packet
	// from one of them is left to the kernel, which drops it as a martian.
	Local4 Local4
}

// Port is one Ethernet port.
type Port struct {
	Name    string
	IfIndex int
	MAC     [6]byte
	MTU     int
	// Fast4 and Fast6 say whether frames of that family may be carried in from
	// this port by Weir at all: the kernel would ask nobody else.
	Fast4, Fast6 bool
	// Slow names, for people, what keeps a family on the kernel path, for example
	// "ipv4: nftables chain inet filter/forward". Empty when both are fast.
	Slow []string
}

// Kind is what a NextHop does.
type Kind uint8

const (
	// KindKernel leaves the frame to the kernel, for NextHop.Reason.
	KindKernel Kind = iota
	// KindForward rewrites and sends.
	KindForward
)

// NextHop is a resolved decision: where to send, with which MACs.
type NextHop struct {
	Kind   Kind
	Reason frame.Reason // KindKernel: why
	Out    frame.PortID
	// MTU is the largest layer-3 packet in bytes that fits: the smaller of the
	// out port's and the route's.
	MTU uint32
	// DstMAC is the neighbour's, SrcMAC the out port's.
	DstMAC, SrcMAC [6]byte
	// Stale: the kernel holds the neighbour's entry but would confirm it before
	// long use; the forwarder asks it to when the next hop is in use.
	Stale bool
}
