// Package rib holds the kernel's routes, neighbours and the state of our ports,
// and works out from them the forwarding table of a snapshot: which prefixes,
// which next hops, and what changed since last time.
//
// It does no I/O and knows no clock: the mirror feeds it what netlink said, in
// order, and calls Commit. Every decision is made from the state alone and never
// from the way it came about, so that events, a full dump, and both in any order
// end in the same table; the tests compare it with a slow twin and with the
// kernel's own answers. Whatever it cannot express, it leaves to the kernel
// (snapshot.KindKernel). Imports: fib, frame, snapshot, mirror/rtnl. A RIB
// belongs to one goroutine; what Commit returns is immutable.
package rib
