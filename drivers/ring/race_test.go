package ring

import (
	"math"
	"runtime"
	"testing"
)

// Two goroutines, one per end: under the race detector this is the proof that
// entries are published after they are written and given back after they are
// read.
func TestConcurrentEnds(t *testing.T) {
	const total = 100_000
	for _, entries := range []int{1, 4, 64} {
		p, c, _ := ends[Desc](t, entries, math.MaxUint32-1000)
		go func() {
			for sent, k := 0, 1; sent < total; k = k%7 + 1 {
				n := p.Free(min(k, total-sent))
				for i := range n {
					p.Set(i, Desc{Addr: uint64(sent + i), Len: uint32(sent + i)})
				}
				p.Publish(n)
				if sent += n; n == 0 {
					runtime.Gosched()
				}
			}
		}()
		for got, k := 0, 1; got < total; k = k%5 + 1 {
			n := c.Avail(k)
			for i := range n {
				if d := c.Get(i); d.Addr != uint64(got+i) || d.Len != uint32(got+i) {
					t.Fatalf("entry %d is %+v", got+i, d)
				}
			}
			c.Release(n)
			if got += n; n == 0 {
				runtime.Gosched()
			}
		}
		if c.Waiting() != 0 {
			t.Error("more came out than went in")
		}
	}
}

func TestSPSCConcurrent(t *testing.T) {
	const total = 100_000
	for _, size := range []int{1, 8, 128} {
		r := spscAt(t, size, math.MaxUint32-1000)
		stop, watched := make(chan struct{}), make(chan struct{})
		go func() { // a third party may ask for the length
			defer close(watched)
			for {
				if n := r.Len(); n < 0 || n > size {
					t.Errorf("Len = %d of %d", n, size)
				}
				select {
				case <-stop:
					return
				default:
					runtime.Gosched()
				}
			}
		}()
		go func() {
			var src [7]int
			for sent, k := 0, 1; sent < total; k = k%7 + 1 {
				b := src[:min(k, total-sent)]
				for i := range b {
					b[i] = sent + i
				}
				n := r.Push(b)
				if sent += n; n == 0 {
					runtime.Gosched()
				}
			}
		}()
		var dst [5]int
		for got, k := 0, 1; got < total; k = k%5 + 1 {
			n := r.Pop(dst[:k])
			for i, v := range dst[:n] {
				if v != got+i {
					t.Fatalf("entry %d is %d", got+i, v)
				}
			}
			if got += n; n == 0 {
				runtime.Gosched()
			}
		}
		close(stop)
		<-watched
	}
}
