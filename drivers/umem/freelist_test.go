package umem

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"weir/netstack/frame"
)

func mustNew(t testing.TB, frames, size int) *UMEM {
	t.Helper()
	u, err := New(frames, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := u.Close(); err != nil {
			t.Error(err)
		}
	})
	return u
}

func count(t testing.TB, u *UMEM) Count {
	t.Helper()
	c, err := u.Audit()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFreeList(t *testing.T) {
	u := mustNew(t, 8, 2048)
	if u.Free() != 8 || u.Frames() != 8 || u.Size() != 2048 || len(u.Mem()) != 8*2048 {
		t.Fatalf("free %d, frames %d, size %d, memory %d", u.Free(), u.Frames(), u.Size(), len(u.Mem()))
	}
	a, _ := u.Get()
	b, _ := u.Get()
	if a != 0 || b != 2048 {
		t.Errorf("first frames at %#x and %#x", a, b)
	}
	u.Put(a)
	if c, _ := u.Get(); c != a {
		t.Errorf("got %#x, want the frame put last, %#x", c, a)
	}
	var six [10]uint64
	if n := u.GetN(six[:]); n != 6 {
		t.Fatalf("GetN gave %d, want the 6 that are left", n)
	}
	if _, ok := u.Get(); ok || u.GetN(six[:1]) != 0 {
		t.Error("an empty list gives frames")
	}
	if c := count(t, u); c.Worker != 8 || c.Free != 0 {
		t.Errorf("%+v", c)
	}
	u.PutN(six[:6])
	u.Put(b)
	u.Put(a)
	if c := count(t, u); c.Worker != 0 || c.Free != 8 {
		t.Errorf("%+v", c)
	}
}

// GetN is so many Gets.
func TestGetNOrder(t *testing.T) {
	u, v := mustNew(t, 16, 2048), mustNew(t, 16, 2048)
	var many [9]uint64
	u.GetN(many[:])
	var one []uint64
	for range many {
		a, _ := v.Get()
		one = append(one, a)
	}
	if !slices.Equal(many[:], one) {
		t.Errorf("GetN %x, Get %x", many, one)
	}
}

// Any address inside a frame gives that frame back, at its base.
func TestPutNormalises(t *testing.T) {
	for _, size := range []int{2048, 4096} {
		u := mustNew(t, 4, size)
		for range 1000 {
			var some [3]uint64
			u.GetN(some[:])
			rand.Shuffle(3, func(i, j int) { some[i], some[j] = some[j], some[i] })
			for _, a := range some {
				u.Put(a + uint64(rand.IntN(size)))
			}
			if c := count(t, u); c.Free != 4 {
				t.Fatalf("%+v", c)
			}
		}
		var all [4]uint64
		u.GetN(all[:])
		slices.Sort(all[:])
		for i, a := range all {
			if a != uint64(i*size) {
				t.Errorf("frames of %d: %x", size, all)
			}
		}
		u.PutN(all[:])
	}
}

// Case A11: packets start at base + 256; decapsulation moves the start by +50,
// encapsulation by -50, a VLAN tag by -4. No address that goes back to the kernel
// is off its base, no frame is ever in two places, none is lost.
func TestDrift(t *testing.T) {
	for _, size := range []int{2048, 4096} {
		const frames = 64
		u := mustNew(t, frames, size)
		rnd := rand.New(rand.NewPCG(1, uint64(size)))
		var hands []frame.Frame
		inHand := map[uint64]bool{}
		rounds := 1_000_000
		if raceEnabled || Debug || testing.Short() || runtime.GOARCH == "arm" || runtime.GOARCH == "arm64" { // mostly emulated
			rounds = 100_000
		}
		for range rounds {
			switch k := rnd.IntN(7); {
			case k <= 2: // receive: as the kernel would write it
				a, ok := u.Get()
				if !ok {
					continue
				}
				if a%uint64(size) != 0 || inHand[a] || a >= uint64(frames*size) {
					t.Fatalf("frame %#x: off its base, in two places, or foreign", a)
				}
				inHand[a] = true
				at := a + PacketHeadroom
				hands = append(hands, frame.Frame{Addr: at, Data: u.Packet(at, 100+rnd.IntN(1000))})
			case len(hands) == 0:
			case k <= 5: // move the start, within the frame or not at all
				f := &hands[rnd.IntN(len(hands))]
				was := *f
				ok := true
				switch rnd.IntN(3) {
				case 0:
					ok = u.Pull(f, 50)
				case 1:
					ok = u.Push(f, 50)
				case 2:
					ok = u.Push(f, 4)
				}
				if !ok && (f.Addr != was.Addr || len(f.Data) != len(was.Data)) {
					t.Fatal("a refused move changed the frame")
				}
				if u.Base(f.Addr) != u.Base(was.Addr) {
					t.Fatalf("%#x has drifted to %#x", was.Addr, f.Addr)
				}
			default: // forward or drop: the frame comes home by its present address
				i := rnd.IntN(len(hands))
				u.Put(hands[i].Addr)
				delete(inHand, u.Base(hands[i].Addr))
				hands = slices.Delete(hands, i, i+1)
			}
		}
		if c := count(t, u); c.Worker != len(hands) || c.Free != frames-len(hands) {
			t.Errorf("%+v with %d in hand", c, len(hands))
		}
		for _, f := range hands {
			u.Put(f.Addr)
		}
	}
}

// 256 bytes before the packet take 5 headers of 50 bytes in a row, and the sixth
// is refused; nothing is written before the frame or into its neighbours.
func TestPushStopsAtTheFrame(t *testing.T) {
	u := mustNew(t, 3, 2048)
	mem := u.Mem()
	for i := range mem {
		mem[i] = 0xaa
	}
	at := uint64(2048 + PacketHeadroom)
	f := frame.Frame{Addr: at, Data: u.Packet(at, 100)}
	for i := range 5 {
		if !u.Push(&f, 50) {
			t.Fatalf("header %d of 50 bytes is refused", i+1)
		}
		clear(f.Data[:50])
	}
	if u.Push(&f, 50) {
		t.Fatal("a sixth header of 50 bytes fits 256 bytes")
	}
	if !u.Push(&f, 6) || u.Push(&f, 1) || u.Push(&f, -1) {
		t.Error("the last 6 bytes are room, and no more")
	}
	if f.Addr != 2048 || len(f.Data) != 356 {
		t.Errorf("frame at %#x with %d bytes", f.Addr, len(f.Data))
	}
	for i := range 2048 {
		if mem[i] != 0xaa || mem[4096+i] != 0xaa {
			t.Fatal("a neighbour was written")
		}
	}
	// Nor can an append leave the frame.
	if c := cap(f.Data); c != 2048 {
		t.Errorf("the packet's capacity is %d, want to the end of the frame, 2048", c)
	}
	if u.Pull(&f, 356) || u.Pull(&f, -1) || !u.Pull(&f, 355) {
		t.Error("Pull leaves at least a byte, and takes no negative length")
	}
}

func TestNoAllocation(t *testing.T) {
	u := mustNew(t, 64, 2048)
	var buf [32]uint64
	var f frame.Frame
	n := testing.AllocsPerRun(100, func() {
		k := u.GetN(buf[:])
		a, _ := u.Get()
		f = frame.Frame{Addr: a + 256, Data: u.Packet(a+256, 60)}
		u.Push(&f, 50)
		u.Pull(&f, 50)
		u.Move(a, OwnerWorker, OwnerTX)
		u.Move(a, OwnerTX, OwnerWorker)
		u.Put(f.Addr)
		u.PutN(buf[:k])
	})
	if n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}
