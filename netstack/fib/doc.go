// Package fib is the longest-prefix-match table of the packet path: an
// immutable value over IPv4 and IPv6 prefixes, changed by making a new one that
// shares what did not change.
//
// It is a trie of octets. A node keeps the values of its 256 octets as runs, so
// that prefixes of any length within the octet are one bit count away, and its
// children as a compressed array; a prefix that is alone behind an octet is kept
// there, not at the end of a chain of nodes. A look-up goes down once and never
// back.
//
// Look-ups allocate nothing, on 32-bit machines too, and may run on any number
// of goroutines. The package knows prefixes and 32-bit values only; what a value
// means is snapshot's business. It imports the standard library alone.
package fib
