package umem

import "weir/netstack/frame"

// Packet is the n bytes at addr. The slice's capacity ends with the frame, so
// that appending to it cannot write into the next one. addr and n have to lie
// inside one frame.
func (u *UMEM) Packet(addr uint64, n int) []byte {
	end := (addr | u.mask) + 1
	return u.mem[addr : addr+uint64(n) : end]
}

// Push moves the start of f forward in memory by n bytes, for a header to be
// put before it; the new bytes hold what was there before. It reports false,
// and changes nothing, when the frame has no such room before the packet: the
// caller then copies or drops, and counts.
func (u *UMEM) Push(f *frame.Frame, n int) bool {
	if n < 0 || uint64(n) > f.Addr&u.mask {
		return false
	}
	f.Addr -= uint64(n)
	f.Data = u.Packet(f.Addr, len(f.Data)+n)
	return true
}

// Pull removes n bytes from the start of f. It reports false, and changes
// nothing, when the packet is not longer than that.
func (u *UMEM) Pull(f *frame.Frame, n int) bool {
	if n < 0 || n >= len(f.Data) {
		return false
	}
	f.Addr += uint64(n)
	f.Data = f.Data[n:]
	return true
}
