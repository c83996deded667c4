package worker

import "weir/netstack/frame"

// Receiver is where a worker's frames come from: one queue of one port, or
// another worker. A frame is at every moment in exactly one place: free, in a
// ring, or in the worker's Batch. Only the worker's thread calls it.
type Receiver interface {
	// Receive appends frames to b until it is full or none is waiting, and
	// returns how many. It sets Data, Addr and In, and zeroes the rest (from
	// another worker: all is set). The frames are the batch's until Send or
	// Release takes them.
	Receive(b *frame.Batch) int
	// Release takes back frames that are not sent: b.F[i] for i in idx.
	Release(b *frame.Batch, idx []uint8)
	// Service recycles completed transmissions and refills what frames are received
	// into. Once a round.
	Service()
	// FD is what poll(2) waits on for frames to receive.
	FD() int
}

// Sender is where they go. Only the worker's thread calls it.
type Sender interface {
	// Send queues the frames b.F[i], for i in idx and in that order, and returns
	// how many it took: the first n of idx. The others stay the batch's. It never
	// blocks and does not call the kernel.
	Send(b *frame.Batch, idx []uint8) int
	// Flush starts the transmission of what Send queued.
	Flush()
}

// Port is one queue of one port as a worker drives it. All Ports of a worker
// share the worker's frames.
type Port interface {
	Receiver
	Sender
}
