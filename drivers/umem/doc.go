// Package umem is a worker's frame memory, the UMEM of AF_XDP, and the answer
// to who owns which frame.
//
// A UMEM is N frames (the kernel says chunks) of equal size in one mapping. A
// frame is named by its base, the offset of its first byte; what a packet's
// address is inside a frame does not matter to its owner, and every address is
// brought back to the base when the frame is returned: packets start 256 bytes
// and more after it (XDP_PACKET_HEADROOM, and what encapsulation moved), and a
// free list that kept such addresses would drift into the next frame.
//
//	base                                                         base + Size
//	| XDP_PACKET_HEADROOM 256 | Headroom | packet: at most Usable |
//
// At every moment a frame is in exactly one place:
//
//	free ─Get─► worker ─► fill ring, driver, RX ring ─► worker (batch)
//	  ▲                                                   │      │
//	  └──────────────────────── Put ◄─────────────────────┘      ▼
//	  └──────────── Put ◄─ completion ring ◄─ driver ◄─ TX ring ─┘
//
// Audit proves it by counting. A build with the tag weirdebug also keeps the
// owner of every frame and panics at the first false step (a frame put twice,
// sent twice, an address of no frame), naming the frame; without the tag that
// code is not there.
//
// A UMEM belongs to one worker: only its goroutine may call it, but for Close
// and what is constant after New. It imports golang.org/x/sys/unix for the
// mapping and netstack/frame; sockets and rings must never be added here.
package umem
