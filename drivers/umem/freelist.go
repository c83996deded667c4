package umem

// Free is how many frames are free.
func (u *UMEM) Free() int { return u.n }

// Get takes a free frame and returns its base. ok is false when there is none.
func (u *UMEM) Get() (addr uint64, ok bool) {
	if u.n == 0 {
		return 0, false
	}
	u.n--
	addr = uint64(u.free[u.n]) << u.shift
	u.track.move(u, addr, OwnerFree, OwnerWorker)
	return addr, true
}

// GetN takes free frames, at most len(dst), puts their bases into dst and
// returns how many.
func (u *UMEM) GetN(dst []uint64) int {
	n := min(len(dst), u.n)
	if n <= 0 {
		return 0
	}
	top := u.free[u.n-n : u.n]
	for i := range dst[:n] {
		// From the top down, as n calls of Get would.
		dst[i] = uint64(top[n-1-i]) << u.shift
		u.track.move(u, dst[i], OwnerFree, OwnerWorker)
	}
	u.n -= n
	return n
}

// Put gives back the frame that addr lies in; any address inside it will do.
// One that lies in no frame, or a frame too many, is not taken and makes Audit
// fail.
func (u *UMEM) Put(addr uint64) {
	u.track.move(u, addr, OwnerWorker, OwnerFree)
	i := addr >> u.shift
	if i >= uint64(u.frames) || u.n >= len(u.free) {
		u.faults++
		return
	}
	u.free[u.n] = uint32(i)
	u.n++
}

// PutN gives back the frames that addrs lie in, as Put does.
func (u *UMEM) PutN(addrs []uint64) {
	for _, a := range addrs {
		u.Put(a)
	}
}
