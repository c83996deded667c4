// Package snapshot is the one value that all tiers read: the kernel's decisions
// as an immutable Snapshot.
//
// netstack/mirror builds a new Snapshot whenever the kernel changes its mind and
// publishes it through one atomic pointer; workers load that pointer once per
// batch, and cmd/forwarder writes the XDP maps from the same value. A published
// Snapshot never changes; readers on any number of goroutines need no lock.
// Only look-ups and values belong here: no netlink, no I/O.
package snapshot
