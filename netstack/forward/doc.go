// Package forward decides a Batch of frames against a Snapshot and rewrites
// those it forwards: the whole of tier 1 between receiving and sending.
//
// Process is pure: no system call, clock, lock, log or allocation, and its
// result depends on its arguments alone. It forwards a frame only if the Linux
// kernel, holding the state of the Snapshot, would forward it, and then with the
// bytes that Linux would send; every other frame is punted with not a byte
// changed, for the kernel to treat as if it had just arrived. It never drops
// and never answers. It reads the Snapshot and writes the Batch: safe
// concurrently with anything that shares only the Snapshot.
//
// Imports frame, header, checksum and snapshot. Policy, ICMP and reassembly
// must never be added: they are the kernel's.
package forward
