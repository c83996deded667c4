package ring

import "testing"

// FuzzRing drives both ends with batches of the sizes in ops (even bytes
// produce, odd bytes consume) and compares with a plain queue.
func FuzzRing(f *testing.F) {
	f.Add(uint8(0), uint32(0), []byte{2, 3})
	f.Add(uint8(3), uint32(0xfffffffe), []byte{16, 17, 6, 5, 255, 254, 255})
	f.Add(uint8(2), uint32(0x7fffffff), []byte{8, 3, 4, 7, 2, 9, 200, 201})
	f.Fuzz(func(t *testing.T, log2 uint8, start uint32, ops []byte) {
		entries := 1 << (log2 % 7)
		p, c, _ := ends[uint64](t, entries, start)
		s := spscAt(t, entries, start)
		var queue []int
		next := 0
		buf := make([]int, 128)
		for _, op := range ops {
			k := int(op / 2)
			if op%2 == 0 {
				n := p.Free(k)
				for i := range n {
					p.Set(i, uint64(next+i))
					buf[i] = next + i
				}
				p.Publish(n)
				if want := min(k, entries-len(queue)); n != want {
					t.Fatalf("Free(%d) = %d, want %d", k, n, want)
				}
				if m := s.Push(buf[:n]); m != n {
					t.Fatalf("Push took %d of %d", m, n)
				}
				queue = append(queue, buf[:n]...)
				next += n
				continue
			}
			n := c.Avail(k)
			if want := min(k, len(queue)); n != want {
				t.Fatalf("Avail(%d) = %d, want %d", k, n, want)
			}
			if m := s.Pop(buf[:k]); m != n {
				t.Fatalf("Pop gave %d, want %d", m, n)
			}
			for i := range n {
				if c.Get(i) != uint64(queue[i]) || buf[i] != queue[i] {
					t.Fatalf("entry %d: %d and %d, want %d", i, c.Get(i), buf[i], queue[i])
				}
			}
			c.Release(n)
			queue = queue[n:]
		}
	})
}
