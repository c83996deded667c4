// Package port brings Ethernet ports up: it finds each by its MAC, its PCI
// address or its place in the device tree, never by order; names it by its
// label; sets MTU, forwarding and addresses; and installs the static routes.
// It changes only what differs from the Spec, so that applying twice changes
// nothing, and it goes on where something fails: what is wrong with one port
// stops no other.
//
// It talks to the kernel through the Kernel interface: Linux is the real one,
// porttest.Kernel a fake that misbehaves on demand.
//
// What is the kernel's or somebody else's stays: link-local addresses that the
// kernel made, addresses with a lifetime (from router advertisements or a
// DHCP client), routes without Weir's protocol number, interfaces that no port
// matches (one that has a port's label is moved out of the way by a new name),
// rp_filter. A port that forwards ignores ICMP redirects; whether it sends them is
// left to the kernel.
//
// A Setup is for one goroutine, locked to its thread if the namespace matters.
// The package imports no packet path and no configuration file; deciding
// whether a Spec makes sense is init/config's job.
package port
