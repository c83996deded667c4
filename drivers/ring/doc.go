// Package ring is the index arithmetic of rings that two sides share without a
// lock: the four rings of an AF_XDP socket, and a plain ring in Go memory that
// hands frames from one worker to another.
//
// A ring has two free-running 32-bit indices, producer and consumer. Each is
// written by one side only and wraps at 2^32; the number of entries is a power
// of two, so that an index masked by it names a slot and producer - consumer is
// the number of entries in use, across the wrap too.
//
// Each end keeps local copies, of its own index (which it alone moves) and of
// the other's (which it re-reads only when the copy says too little). Entries
// are written or read first, then one atomic store publishes the whole batch:
// sync/atomic's store is the release, its load the acquire, that
// Documentation/networking/af_xdp.rst and net/xdp/xsk_queue.h ask for.
//
// The life of a frame, as two journeys through the four rings of a socket:
//
//   - received: we produce its address on the fill ring; the kernel consumes it,
//     writes a packet into the frame and produces a Desc on the RX ring; we
//     consume that.
//   - sent: we produce a Desc on the TX ring; the kernel consumes it, and once
//     the packet has left it produces the frame's address on the completion
//     ring; we consume that.
//
// So ours is the Producer of fill and TX and the Consumer of RX and completion;
// the kernel's ends are the opposite ones, and a test's fake kernel is built
// from the same two types.
//
// The package is pure: it imports the standard library only, makes no system
// call and does not know where the memory came from (unsafe casts are made
// where the memory is mapped, in drivers/xsk). One goroutine per end; the two
// ends may run at the same time. Blocking, waking and memory mapping must never
// be added here.
package ring
