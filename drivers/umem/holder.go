package umem

import "fmt"

// Holder is a socket that keeps frames of a UMEM in its rings.
type Holder interface {
	// Held is how many frames the kernel has from this socket, for reception
	// (fill ring, driver, RX ring) and for transmission (TX ring, driver,
	// completion ring).
	Held() (rx, tx int)
	// FD is the open, bound socket.
	FD() int
}

// SharedFD is a bound socket of this UMEM, through which another one can join
// it (XDP_SHARED_UMEM); ok is false when there is none and the next socket has
// to register the memory.
func (u *UMEM) SharedFD() (fd int, ok bool) {
	if len(u.holders) == 0 {
		return -1, false
	}
	return u.holders[0].FD(), true
}

// Attach adds h to the sockets that share the frames, and lowers everybody's
// Quota.
func (u *UMEM) Attach(h Holder) {
	u.holders = append(u.holders, h)
	u.requota()
}

// Detach removes h. The frames that it holds stay with the kernel and are lost
// to the UMEM (Audit counts them): in zero-copy mode, and for drivers that send
// a UMEM's pages without a copy, the hardware may still use them after the
// socket is gone. They come back when the UMEM is closed and made anew.
func (u *UMEM) Detach(h Holder) {
	for i, o := range u.holders {
		if o == h {
			u.holders = append(u.holders[:i], u.holders[i+1:]...)
			rx, tx := h.Held()
			u.lost += rx + tx
			u.requota()
			return
		}
	}
}

// batchReserve is what is left out of the quotas for the worker's own hands: a
// batch (netstack/frame.BatchSize).
const batchReserve = 64

func (u *UMEM) requota() {
	n := max(len(u.holders), 1)
	u.quota = max((u.frames-u.lost-batchReserve)/(2*n), 1)
}

// Quota is how many frames one socket may have the kernel hold in either
// direction, so that the quotas of all sockets and one batch are no more than
// all frames: a port that receives nothing, or one that cannot transmit, then
// takes nothing from the others. It changes when sockets come and go.
func (u *UMEM) Quota() int { return u.quota }

// Count is where the frames are.
type Count struct {
	Frames int // all of them
	Free   int
	RX     int // with the kernel for reception
	TX     int // with the kernel for transmission
	Lost   int // left with the kernel by closed sockets
	Worker int // in the worker's hands: all that is nowhere else
}

// Audit counts the frames and reports, as an error, what cannot be: a frame
// that is free twice, more frames than there are, an address that was put and
// is of no frame. With the tag weirdebug it also compares the owner of every
// frame with the counts. The worker calls it, or nobody else is running. It
// allocates and takes a time in proportion to the number of frames.
func (u *UMEM) Audit() (Count, error) {
	c := Count{Frames: u.frames, Free: u.n, Lost: u.lost}
	for _, h := range u.holders {
		rx, tx := h.Held()
		c.RX, c.TX = c.RX+rx, c.TX+tx
	}
	c.Worker = c.Frames - c.Free - c.RX - c.TX - c.Lost
	if u.faults > 0 {
		return c, fmt.Errorf("umem: %d addresses were put that are of no frame, or of a frame that was free", u.faults)
	}
	seen := make([]bool, u.frames)
	for _, i := range u.free[:u.n] {
		if int(i) >= u.frames || seen[i] {
			return c, fmt.Errorf("umem: frame %#x is free twice", uint64(i)<<u.shift)
		}
		seen[i] = true
	}
	if c.Worker < 0 {
		return c, fmt.Errorf("umem: %d frames are accounted for, there are %d: %+v", c.Frames-c.Worker, c.Frames, c)
	}
	return c, u.track.audit(u, c)
}
