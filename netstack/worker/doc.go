// Package worker is the loop of one queue: receive a batch, decide it with
// netstack/forward, send, recycle.
//
// A worker is a pinned OS thread that owns its frames, its ports' sockets on
// its queue and its counters; nothing in the loop takes a lock, allocates or
// logs. It declares the small Port interface it needs; drivers satisfy it.
package worker
