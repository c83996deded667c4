package forward_test

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/netip"
	"testing"

	"weir/netstack/forward"
	"weir/netstack/frame"
	"weir/netstack/snapshot"
	"weir/netstack/snapshot/snaptest"
)

// benchPlan has a default route and this many random prefixes of either family
// over a few next hops.
func benchPlan(r *rand.Rand, routes int) *snapshot.Snapshot {
	b := snaptest.New()
	b.Port("lan", "02:00:00:00:00:01", 1500)
	b.Port("wan", "02:00:00:00:00:02", 1500)
	b.Local("192.168.1.1", "203.0.113.5", "192.168.2.1")
	hops := []uint32{
		b.NextHop(wan, "02:00:00:00:01:01"), b.NextHop(wan, "02:00:00:00:01:02"),
		b.NextHop(wan, "02:00:00:00:01:03"), b.NextHop(wan, "02:00:00:00:01:04"),
	}
	b.Route("0.0.0.0/0", hops[0])
	b.Route("::/0", hops[0])
	for range routes {
		var a [4]byte
		binary.BigEndian.PutUint32(a[:], r.Uint32())
		b.Route(netip.PrefixFrom(netip.AddrFrom4(a), 8+r.IntN(17)).String(), hops[r.IntN(4)])
		var c [16]byte
		binary.BigEndian.PutUint64(c[:], r.Uint64()>>3|1<<61)
		b.Route(netip.PrefixFrom(netip.AddrFrom16(c), 20+r.IntN(45)).String(), hops[r.IntN(4)])
	}
	return b.Snapshot()
}

// benchmark has 2048 frames of 64 bytes, in buffers of 2048 bytes, handled by
// process over and over, in batches.
func benchmark(b *testing.B, six, random bool, process func(*snapshot.Snapshot, *frame.Batch)) {
	r := rand.New(rand.NewPCG(1, 2))
	s := benchPlan(r, 1000)
	const n, size = 2048, 2048
	mem := make([]byte, n*size)
	batches := make([]frame.Batch, n/frame.BatchSize)
	const headLen = 26 // as far as Process writes
	heads := make([][headLen]byte, n)
	for i := range n {
		d := append(mem[i*size:i*size], benchFrame(r, s, i, six, random)...)
		heads[i] = [headLen]byte(d)
		bt := &batches[i/frame.BatchSize]
		bt.F[bt.N] = frame.Frame{Data: d, In: lan}
		bt.N++
	}
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; {
		for k := range batches {
			bt := &batches[k]
			process(s, bt)
			done += bt.N
			for i := range bt.F[:bt.N] { // made fit for another round: part of the figure
				f := &bt.F[i]
				if f.Verdict != frame.VerdictForward {
					b.Fatalf("%v", f.Reason)
				}
				*(*[headLen]byte)(f.Data) = heads[k*frame.BatchSize+i]
			}
		}
	}
}

// benchFrame is frame i: to a random destination, or to one of 256 neighbours.
func benchFrame(r *rand.Rand, s *snapshot.Snapshot, i int, six, random bool) []byte {
	if six {
		p := udp6("2001:db8:1::10", "2001:db8:9::1", 64, 17, 2)
		p[39] = byte(i)
		if random {
			binary.BigEndian.PutUint64(p[24:], r.Uint64()>>3|1<<61)
		}
		return ether(s, lan, hex.EncodeToString(p))
	}
	p := udp4("192.168.1.10", "8.8.0.0", 64, 0, 18)
	p[19] = byte(i)
	for random {
		binary.BigEndian.PutUint32(p[16:], r.Uint32())
		if !notRouted(netip.AddrFrom4([4]byte(p[16:]))) {
			break
		}
	}
	f := ether(s, lan, hex.EncodeToString(p))
	mend(f)
	return f
}

// bare is what cannot be saved: the look-up and the rewrite, with no question
// asked about the packet. Process is measured against it.
func bare(s *snapshot.Snapshot, b *frame.Batch) {
	for i := range b.F[:b.N] {
		f := &b.F[i]
		p := f.Data
		id, ok := s.FIB.Lookup4([4]byte(p[30:34]))
		if !ok {
			continue
		}
		hop := &s.NextHops[id]
		copy(p[0:6], hop.DstMAC[:])
		copy(p[6:12], hop.SrcMAC[:])
		p[22]--
		sum := uint32(binary.BigEndian.Uint16(p[24:])) + 0x100
		binary.BigEndian.PutUint16(p[24:], uint16(sum+sum>>16))
		f.Verdict, f.Out, f.NextHop = frame.VerdictForward, hop.Out, id
	}
}

func BenchmarkBareIPv4Random(b *testing.B) { benchmark(b, false, true, bare) }
func BenchmarkIPv4Random(b *testing.B)     { benchmark(b, false, true, forward.Process) }
func BenchmarkIPv4Near(b *testing.B)       { benchmark(b, false, false, forward.Process) }
func BenchmarkIPv6Random(b *testing.B)     { benchmark(b, true, true, forward.Process) }
