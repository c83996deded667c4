package ring

import "fmt"

// Desc is struct xdp_desc of include/uapi/linux/if_xdp.h: one entry of an RX
// or TX ring, 16 bytes, in the machine's byte order.
type Desc struct {
	// Addr is the offset of the packet's first byte in the UMEM.
	Addr uint64
	// Len is the packet's length in bytes.
	Len uint32
	// Options is 0, or XDP_PKT_CONTD and its like where a socket asked for them.
	Options uint32
}

// Shared is the memory of one ring that both sides see.
type Shared[T any] struct {
	// Producer is written by the side that fills the ring.
	Producer *uint32
	// Consumer is written by the side that empties it.
	Consumer *uint32
	// Flags is written by the kernel: bit 0 (XDP_RING_NEED_WAKEUP) asks for a
	// system call. A completion or RX ring has the field but no meaning for it.
	Flags *uint32
	// Entries are written by the producer and read by the consumer. Their number
	// is a power of two.
	Entries []T
}

// flagNeedWakeup is XDP_RING_NEED_WAKEUP of include/uapi/linux/if_xdp.h.
const flagNeedWakeup = 1

// maxEntries keeps every count within an int32 and producer - consumer
// unambiguous.
const maxEntries = 1 << 30

// CheckSize refuses a number of entries that the arithmetic cannot serve: it
// has to be a power of two (include/uapi: xsk_init_queue says EINVAL).
func CheckSize(n int) error {
	if n <= 0 || n > maxEntries || n&(n-1) != 0 {
		return fmt.Errorf("ring of %d entries: has to be a power of two, such as 2048", n)
	}
	return nil
}

func (s Shared[T]) check() error {
	if s.Producer == nil || s.Consumer == nil || s.Flags == nil {
		return fmt.Errorf("ring of %d entries: no index memory", len(s.Entries))
	}
	return CheckSize(len(s.Entries))
}
