// Package checksum computes the Internet checksum: in full (RFC 1071), after a
// change (RFC 1624), and with the pseudo headers of TCP and UDP.
//
// Sums are carried as a Sum, unfolded, so that pieces add up before one fold.
// All functions are pure, allocate nothing, and give the same result on
// machines of either byte order and of 32 or 64 bits. Imports the standard
// library alone. It knows numbers, not headers: which bytes a checksum covers
// is its caller's business.
package checksum
