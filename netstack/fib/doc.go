// Package fib is the longest-prefix-match table of the packet path: an
// immutable value over IPv4 and IPv6 prefixes, changed by making a new one that
// shares what did not change.
//
// Look-ups allocate nothing and may run on any number of goroutines. It knows
// prefixes and 32-bit values only; what a value means is snapshot's business.
package fib
