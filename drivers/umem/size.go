package umem

import "fmt"

const (
	// PacketHeadroom is XDP_PACKET_HEADROOM of include/uapi/linux/bpf.h: what the
	// kernel leaves free before every packet that it writes.
	PacketHeadroom = 256
	// MinFrame is XDP_UMEM_MIN_CHUNK_SIZE of include/net/xdp_sock.h.
	MinFrame = 2048
	// etherOverhead is what a frame is longer than the MTU: the Ethernet header
	// and two VLAN tags. The FCS is not in memory.
	etherOverhead = 14 + 2*4
	// minUsable is the smallest room for a packet that makes sense, the minimum
	// Ethernet frame.
	minUsable = 64
)

// checkSize is the kernel's rule for aligned chunks (net/xdp/xdp_umem.c,
// xdp_umem_reg; its answer to a breach is a bare EINVAL), with a page of page
// bytes.
func checkSize(size, headroom, page int) error {
	if size < MinFrame || size > page || size&(size-1) != 0 {
		return fmt.Errorf("umem: frames of %d bytes: the kernel takes a power of two from %d to the page size, %d; use %d",
			size, MinFrame, page, nearest(size, page))
	}
	if headroom < 0 || size-PacketHeadroom-headroom < minUsable {
		return fmt.Errorf("umem: headroom of %d bytes leaves no room for packets in frames of %d (the kernel takes %d more): use 0 to %d",
			headroom, size, PacketHeadroom, size-PacketHeadroom-minUsable)
	}
	return nil
}

// nearest is the legal frame size that holds size bytes, or the largest.
func nearest(size, page int) int {
	n := MinFrame
	for n < size && n < page {
		n *= 2
	}
	return n
}

// Usable is the longest packet a received frame holds, in bytes from the
// destination MAC to the end without FCS. The kernel drops longer ones and
// counts them in rx_dropped of the socket.
func (u *UMEM) Usable() int { return u.size - PacketHeadroom - u.headroom }

// MaxMTU is the largest MTU whose packets fit, with two VLAN tags.
func (u *UMEM) MaxMTU() int { return u.Usable() - etherOverhead }

// CheckMTU refuses a port's MTU whose packets would not fit a frame. Weir does
// not put packets together from several frames (XDP_USE_SG).
func (u *UMEM) CheckMTU(mtu int) error {
	if mtu <= u.MaxMTU() {
		return nil
	}
	if u.size < u.page {
		return fmt.Errorf("umem: MTU %d does not fit frames of %d bytes (largest: %d): use frames of %d bytes or set the port's MTU to %d",
			mtu, u.size, u.MaxMTU(), nearest(mtu+etherOverhead+PacketHeadroom+u.headroom, u.page), u.MaxMTU())
	}
	return fmt.Errorf("umem: MTU %d does not fit frames of %d bytes (largest: %d), and a frame cannot be larger than a page: set the port's MTU to %d or leave the port to the kernel",
		mtu, u.size, u.MaxMTU(), u.MaxMTU())
}
