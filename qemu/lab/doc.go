// Package lab makes the two hosts around a gateway, each in a network
// namespace of its own, and the wires to the guest that is the gateway:
//
//	client — [lan] gateway [wan] — server
//
// A host's interface is the tap that QEMU reads, so nothing lies between. The
// namespaces are called weir-PID-client and weir-PID-server (`ip netns` shows
// them); Close removes them, and New what a process that died has left.
//
// Without root everything happens in a user namespace, which Enter arranges;
// where /dev/net/tun is root's alone, a veth pair and a relay take the tap's
// place, with one queue. It starts no guest and knows no traffic; it is the
// only package of the lab that changes namespaces. Methods may be called from
// any goroutine.
package lab
