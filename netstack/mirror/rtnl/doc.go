// Package rtnl turns the bodies of rtnetlink messages into small values: routes,
// neighbours, links, addresses.
//
// The decoders accept any bytes without panic, allocate nothing but interface
// names, and keep only what the forwarding decision needs; whatever they do not
// understand they report as odd, so that the kernel is left to decide. They do no
// I/O and judge nothing: rib and policy do. All functions are pure and may be
// called from any goroutine. Imports: standard library, x/sys/unix, mirror/nl.
package rtnl
