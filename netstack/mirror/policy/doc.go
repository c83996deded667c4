// Package policy finds out whom the kernel would ask about a forwarded packet
// besides its routing table: netfilter, rules, xfrm, tc, settings. Its answer is,
// for each port and family, the list of reasons, in words for people, why Weir may
// not forward in the kernel's stead; an empty list means that it may.
//
// Only what is read and understood to be harmless is harmless: every error, and
// everything unknown, is a reason. Reading and judging are apart: Reader.Read
// does the system calls and returns Facts, Facts.Judge is pure.
//
// A Reader must be made and used on one thread, in the network namespace it is
// to tell about: /proc/sys/net and BPF queries answer for the calling thread's.
// Imports: standard library, x/sys/unix, cilium/ebpf, mirror/nl, mirror/rtnl. It
// changes nothing in the kernel, ever.
package policy
