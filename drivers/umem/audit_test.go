package umem

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// box is a Holder that keeps what it was given.
type box struct{ rx, tx int }

func (b *box) Held() (int, int) { return b.rx, b.tx }
func (b *box) FD() int          { return 40 + b.rx }

// The shares of all sockets and a batch are never more than all frames: no port
// can starve another.
func TestQuota(t *testing.T) {
	for _, frames := range []int{64, 65, 512, 4096} {
		u := mustNew(t, frames, 2048)
		if _, ok := u.SharedFD(); ok {
			t.Error("a UMEM without sockets is shared")
		}
		for n := 1; n <= 8; n++ {
			u.Attach(&box{rx: n})
			q := u.Quota()
			if q < 1 || q > 1 && 2*n*q+batchReserve > frames {
				t.Errorf("%d frames, %d sockets: a share of %d each way", frames, n, q)
			}
		}
		if fd, ok := u.SharedFD(); !ok || fd != 41 {
			t.Errorf("shared through %d, %v", fd, ok)
		}
		u.holders = nil
	}
}

func TestDetachCountsTheLost(t *testing.T) {
	u := mustNew(t, 128, 2048)
	a, b := &box{}, &box{}
	u.Attach(a)
	u.Attach(b)
	whole := u.Quota()
	if err := u.Close(); err == nil || !strings.Contains(err.Error(), "2 sockets") {
		t.Fatalf("Close with sockets: %v", err)
	}
	for i, give := range []struct {
		to  *int
		own Owner
	}{{&a.rx, OwnerRX}, {&a.rx, OwnerRX}, {&a.tx, OwnerTX}, {&b.tx, OwnerTX}} {
		f, _ := u.Get()
		u.Move(f, OwnerWorker, give.own)
		*give.to++
		if c := count(t, u); c.Worker != 0 || c.RX+c.TX != i+1 {
			t.Fatalf("%+v", c)
		}
	}
	u.Detach(a)
	u.Detach(&box{}) // a stranger
	if c := count(t, u); c.Lost != 3 || c.TX != 1 || c.RX != 0 || c.Worker != 0 || c.Free != 124 {
		t.Errorf("%+v", c)
	}
	if u.Quota() <= whole || 2*u.Quota()+batchReserve > 125 {
		t.Errorf("share of %d among one, was %d among two, with 3 lost", u.Quota(), whole)
	}
	b.tx = 0
	u.Detach(b)
}

func TestClose(t *testing.T) {
	u, err := New(4, 4096)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := u.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := u.Get(); ok || u.Mem() != nil {
		t.Error("a closed UMEM has frames")
	}
}

// Huge pages are asked for and not needed: without any, the memory is there all
// the same.
func TestHugePages(t *testing.T) {
	u, err := NewConfig(Config{Frames: 1500, Size: 2048, HugePages: true})
	if errors.Is(err, unix.ENOMEM) {
		t.Fatalf("3 MB are not to be had: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("reserved huge pages: %v", u.Huge())
	mem := u.Mem()
	if len(mem) != 1500*2048 {
		t.Errorf("%d bytes", len(mem))
	}
	mem[0], mem[len(mem)-1] = 1, 2
	if err := u.Close(); err != nil {
		t.Error(err)
	}
}
