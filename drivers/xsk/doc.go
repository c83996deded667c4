// Package xsk is one AF_XDP socket: one queue of one port, as a worker drives
// it. *Socket satisfies worker.Port.
//
// The sockets of a worker share its UMEM: the first one registers the memory,
// later ones bind with XDP_SHARED_UMEM alone (they inherit the mode) and bring
// their own fill and completion rings, since they serve another device or
// queue. So a frame received on one goes to the TX ring of another unchanged.
//
// What reaches a socket is decided by the XDP program on the port, which
// redirects to it through an XSKMAP; put FD there once Open has returned and
// Service has filled the ring. Documentation/networking/af_xdp.rst is the
// reference; these are the parts of net/xdp/xsk.c that shape the code:
//
//   - In copy mode it is the sendto(2) of Flush that transmits: at most 32 frames
//     a call (TX_BATCH_SIZE), then EAGAIN. Each frame is charged to the socket's
//     send buffer until the driver has freed it, so Open raises that.
//   - A descriptor that the kernel finds invalid is skipped and never completes:
//     the frame would be lost. Send therefore checks length and place itself.
//   - On a queue at or above the port's real number of TX queues, on a port that
//     is down, and with a full send buffer, sendto consumes nothing. Flush stops
//     after such a call, and asks again at growing distances only.
//   - The kernel's references: each mapped ring holds the socket open, so Close
//     unmaps before it closes. A queue stays taken for a moment after that
//     (deferred work, packets in flight), so Open waits out EBUSY for a while.
//
// Modes. Native XDP without zero-copy is what mvpp2, mvneta, cpsw and veth have:
// ModeCopy, the zero value. Zero-copy is a property of the UMEM: all ports of
// the worker have it or the second one is refused. On veth a redirected frame is
// lost without a trace unless the peer has NAPI (an XDP program there, or GRO).
//
// The package imports golang.org/x/sys/unix, drivers/ring, drivers/umem and
// netstack/frame. One goroutine, the worker's, drives a Socket; Stats may be
// called by any. XDP programs and maps, parsing, and policy must never be added
// here.
package xsk
