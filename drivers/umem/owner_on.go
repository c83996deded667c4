//go:build weirdebug

package umem

import "fmt"

// Debug reports whether the build tracks the owner of every frame.
const Debug = true

// tracker is the owner of every frame, by number.
type tracker struct{ owner []Owner }

func (t *tracker) init(frames int) { t.owner = make([]Owner, frames) }

func (t *tracker) move(u *UMEM, addr uint64, from, to Owner) {
	i := addr >> u.shift
	if i >= uint64(len(t.owner)) {
		panic(fmt.Sprintf("umem: address %#x is of no frame (%d frames of %d bytes), moved from %v to %v", addr, u.frames, u.size, from, to))
	}
	if t.owner[i] != from {
		panic(fmt.Sprintf("umem: frame %#x (address %#x) is moved from %v to %v, but its owner is %v", u.Base(addr), addr, from, to, t.owner[i]))
	}
	t.owner[i] = to
}

func (t *tracker) audit(u *UMEM, c Count) error {
	var n [4]int
	for _, o := range t.owner {
		n[o]++
	}
	for _, i := range u.free[:u.n] {
		if t.owner[i] != OwnerFree {
			return fmt.Errorf("umem: frame %#x is in the free list, but its owner is %v", uint64(i)<<u.shift, t.owner[i])
		}
	}
	// Frames that a closed socket left behind keep their last owner.
	if n[OwnerFree] != c.Free || n[OwnerRX]+n[OwnerTX] != c.RX+c.TX+c.Lost || n[OwnerWorker] != c.Worker {
		return fmt.Errorf("umem: owners say free %d, worker %d, rx %d, tx %d; the rings say %+v", n[OwnerFree], n[OwnerWorker], n[OwnerRX], n[OwnerTX], c)
	}
	return nil
}
