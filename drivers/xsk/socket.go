package xsk

import (
	"sync"

	"weir/drivers/ring"
	"weir/drivers/umem"
	"weir/netstack/frame"
)

// Socket is one AF_XDP socket: a queue of a port. Only the worker's goroutine
// calls its methods, but for Stats, and for Close once the worker has stopped.
type Socket struct {
	// Data half.
	u    *umem.UMEM
	k    kernel
	fd   int
	port frame.PortID
	rx   ring.Consumer[ring.Desc]
	tx   ring.Producer[ring.Desc]
	fill ring.Producer[uint64]
	comp ring.Consumer[uint64]
	// rxHeld are the frames put on the fill ring and not yet received; txHeld
	// those put on the TX ring and not yet completed. The kernel loses none, so
	// these counts are exact, and unlike a ring's own count they include what a
	// driver has taken out of it.
	rxHeld, txHeld int
	// idle and skip space out the kicks of a TX ring that does not move, see kick.
	idle, skip int
	counters   counters
	scratch    [frame.BatchSize]uint64

	// Control half.
	name     string
	queue    int
	shared   bool // joined a UMEM that another socket had registered
	zeroCopy bool
	maps     [][]byte
	mu       sync.Mutex // Stats against Close
}

// FD is what poll(2) waits on for frames to receive, and what goes into an
// XSKMAP. It is -1 once the socket is closed.
func (s *Socket) FD() int { return s.fd }

// Queue is the queue the socket is bound to.
func (s *Socket) Queue() int { return s.queue }

// ZeroCopy reports whether the device uses the frames itself.
func (s *Socket) ZeroCopy() bool { return s.zeroCopy }

// SetPort changes Frame.In of what is received from now on.
func (s *Socket) SetPort(id frame.PortID) { s.port = id }

// Held is how many frames the kernel has from this socket for reception and for
// transmission.
func (s *Socket) Held() (rx, tx int) { return s.rxHeld, s.txHeld }
