//go:build weirdebug

package umem

import (
	"fmt"
	"strings"
	"testing"
)

// Each false step panics with the frame and its true owner.
func TestOwnerPanics(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(u *UMEM)
		want string
	}{
		"double put":       {func(u *UMEM) { u.Get(); u.Put(256); u.Put(0) }, "frame 0x0 (address 0x0) is moved from worker to free, but its owner is free"},
		"foreign address":  {func(u *UMEM) { u.Put(4 * 2048) }, "address 0x2000 is of no frame (4 frames of 2048 bytes)"},
		"put while sent":   {func(u *UMEM) { u.Get(); u.Move(0, OwnerWorker, OwnerTX); u.Put(0x123) }, "frame 0x0 (address 0x123) is moved from worker to free, but its owner is tx"},
		"sent twice":       {func(u *UMEM) { u.Get(); u.Move(0, OwnerWorker, OwnerTX); u.Move(0, OwnerWorker, OwnerTX) }, "its owner is tx"},
		"never posted":     {func(u *UMEM) { u.Get(); u.Move(0, OwnerRX, OwnerWorker) }, "its owner is worker"},
		"completed unsent": {func(u *UMEM) { u.Move(2048, OwnerTX, OwnerWorker) }, "frame 0x800 (address 0x800) is moved from tx to worker, but its owner is free"},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("%s: %s, want %q", name, got, c.want)
				}
			}()
			c.do(mustNew(t, 4, 2048))
		}()
	}
}

// Audit compares owners and counts.
func TestOwnerAudit(t *testing.T) {
	u := mustNew(t, 8, 2048)
	a, _ := u.Get()
	u.Move(a, OwnerWorker, OwnerRX) // into a ring that nobody attached
	if _, err := u.Audit(); err == nil || !strings.Contains(err.Error(), "owners say free 7, worker 0, rx 1") {
		t.Error(err)
	}
	u.track.owner[1] = OwnerTX
	if _, err := u.Audit(); err == nil || !strings.Contains(err.Error(), "frame 0x800 is in the free list, but its owner is tx") {
		t.Error(err)
	}
}
