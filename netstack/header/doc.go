// Package header gives typed views over the bytes of a frame: Ethernet, VLAN
// tag, ARP, IPv4, IPv6, UDP, TCP, ICMP, VXLAN.
//
// A view is a pointer to a fixed array inside the caller's buffer. ParseX
// verifies a header once against the bytes that are really there; after that
// every field is read and written by constant offset, without a test. Nothing
// is copied and nothing is allocated: a view lives as long as the buffer.
//
// Numbers are given and taken in host order; addresses are arrays in network
// order. A view is not safe for concurrent use while somebody sets fields.
// Imports the standard library alone. Checksums belong to netstack/checksum,
// decisions to netstack/forward; no look-up and no policy may be added here.
package header
