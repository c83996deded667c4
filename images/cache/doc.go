// Package cache keeps what the image builder has downloaded or computed, below
// one folder.
//
//	sha256/XX/SUM     downloaded files by the SHA-256 of their bytes
//	derived/SUM       results of slow steps (an unpacked package, a compiled
//	                  busybox) by a hash of all their inputs, each with its own
//	                  check sum at the end
//	*.lock            held by the one process that adds to a half of the cache
//
// Nothing in it is ever trusted by its name: every read is checked first.
// Nothing is half-written: files appear by rename, and what an interrupted
// process left is swept by the next writer. Deleting any file or the whole
// folder is always safe.
//
// It imports images/atomic and the standard library. A Cache is safe for
// concurrent use by several processes, one writer at a time. Expiry and policy
// about what to keep never belong here.
package cache
