package xsk

import (
	"fmt"

	"weir/drivers/ring"
	"weir/netstack/frame"
)

// Mode is how packets get between the driver and the frames.
type Mode uint8

const (
	// ModeCopy: the kernel copies. Works on every port with XDP, native or generic.
	ModeCopy Mode = iota
	// ModeZeroCopy: the device reads and writes the frames. Open fails with
	// EOPNOTSUPP on a driver that cannot.
	ModeZeroCopy
	// ModeAuto: zero-copy if the driver of the worker's first socket can, else
	// copy; the worker's other sockets follow the first, or fail.
	ModeAuto
)

func (m Mode) String() string {
	switch m {
	case ModeCopy:
		return "copy"
	case ModeZeroCopy:
		return "zero-copy"
	case ModeAuto:
		return "auto"
	}
	return fmt.Sprintf("mode %d", uint8(m))
}

// DefaultRingSize is the entries of each ring when Options say 0. 2048 is about
// a millisecond of 64-byte frames at 1 Gbit/s, longer than a worker is away.
const DefaultRingSize = 2048

// Options of one socket. The zero value is right for most ports.
type Options struct {
	// Port is Frame.In of what is received; SetPort changes it.
	Port frame.PortID
	// Label names the port in errors; "" means its interface index.
	Label string
	// RingSize is the entries of the RX, TX and completion rings, a power of two;
	// 0 means DefaultRingSize.
	RingSize int
	// FillSize is the entries of the fill ring, a power of two not below RingSize;
	// 0 means RingSize in copy mode. Otherwise it means twice that: there the
	// driver's own ring, too, is filled from it.
	FillSize int
	// Mode counts for the first socket of a UMEM only.
	Mode Mode
	// NoNeedWakeup binds without XDP_USE_NEED_WAKEUP, so that a zero-copy driver
	// polls the rings by itself. It counts for the first socket of a UMEM only and
	// changes nothing in copy mode.
	NoNeedWakeup bool
	// SendBuffer is SO_SNDBUF in bytes; 0 means enough for a full TX ring. More
	// than net.core.wmem_max needs CAP_NET_ADMIN; without it the limit stays and
	// Flush sends in smaller rounds.
	SendBuffer int
}

// withDefaults fills in what is 0 and refuses what cannot be.
func (o Options) withDefaults(frameSize int) (Options, error) {
	if o.RingSize == 0 {
		o.RingSize = DefaultRingSize
	}
	if o.FillSize == 0 {
		o.FillSize = o.RingSize
		if o.Mode != ModeCopy {
			o.FillSize *= 2
		}
	}
	if err := ring.CheckSize(o.RingSize); err != nil {
		return o, fmt.Errorf("RingSize: %w", err)
	}
	if err := ring.CheckSize(o.FillSize); err != nil {
		return o, fmt.Errorf("FillSize: %w", err)
	}
	if o.FillSize < o.RingSize {
		return o, fmt.Errorf("FillSize %d is below RingSize %d: the RX ring could never fill; leave FillSize 0", o.FillSize, o.RingSize)
	}
	if o.Mode > ModeAuto {
		return o, fmt.Errorf("%v is unknown: use ModeCopy, ModeZeroCopy or ModeAuto", o.Mode)
	}
	if o.SendBuffer < 0 {
		return o, fmt.Errorf("SendBuffer %d is negative: leave it 0", o.SendBuffer)
	}
	if o.SendBuffer == 0 {
		// A packet is charged with what its sk_buff takes: the slab that holds the
		// packet, its headroom and the shared info (skb_shared_info), at most twice
		// the frame, and the sk_buff itself. The kernel doubles what it is told.
		o.SendBuffer = min(o.RingSize, maxSendBuffer/(2*frameSize)) * 2 * frameSize
	}
	return o, nil
}

// maxSendBuffer keeps the value within what the kernel can double in an int.
const maxSendBuffer = 1 << 29

// Frames is how many frames a UMEM needs for sockets sockets with rings of
// ringSize entries (0: DefaultRingSize) so that every fill and TX ring can be
// full at the same time with a batch in the worker's hands. With fewer frames
// nothing breaks: each socket keeps to its share (umem.Quota).
func Frames(sockets, ringSize int) int {
	if ringSize == 0 {
		ringSize = DefaultRingSize
	}
	return 2*sockets*ringSize + frame.BatchSize
}
