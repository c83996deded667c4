package forward_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"weir/netstack/frame"
)

// FuzzProcess holds Process to its contract for any bytes: no panic, nothing
// written outside of the frame, a punted frame as it was, a forwarded one with
// new MACs, one less TTL, the right checksum and otherwise its own bytes up to
// the packet's end; and the twin agrees.
func FuzzProcess(f *testing.F) {
	s := plan()
	g := grammar(rand.New(rand.NewPCG(1, 2)), s, lan)
	for range 64 {
		f.Add(g.Frame(), uint16(lan))
	}
	f.Add(ether(s, lan, "450000281234000040067cafc0a8010ac6336407138801bb000003e8000007d05010200082ec0000deadbeefcafe"), uint16(lan))
	f.Add(ether(s, wan, hex.EncodeToString(udp6("2001:db8:9::1", "2001:db8:1::10", 2, 17, 9))), uint16(wan))
	f.Add([]byte{}, uint16(frame.NoPort))
	f.Fuzz(func(t *testing.T, data []byte, port uint16) {
		in := frame.PortID(port)
		if len(data) >= 34 && data[12] == 8 && data[25]&1 == 0 {
			data = bytes.Clone(data) // the fuzzer's own must stay
			mend(data)               // or hardly any IPv4 packet would pass
		}
		got := process(t, s, in, data)
		out, want := twin(s, in, data)
		if got.Verdict != want.Verdict || got.Reason != want.Reason || got.Out != want.Out || got.NextHop != want.NextHop || !bytes.Equal(got.Data, out) {
			t.Fatalf("Process: %d %v out %d\n%x\ntwin: %d %v out %d\n%x", got.Verdict, got.Reason, got.Out, got.Data, want.Verdict, want.Reason, want.Out, out)
		}
		if got.Verdict != frame.VerdictForward {
			if !bytes.Equal(got.Data, data) {
				t.Fatal("a punted frame was changed")
			}
			return
		}
		hop := s.NextHops[got.NextHop]
		back := bytes.Clone(got.Data)
		copy(back, data[:12])
		if binary.BigEndian.Uint16(data[12:]) == 0x0800 {
			back[22]++
			copy(back[24:26], data[24:26])
			if fullSum(got.Data[14:34]) != 0xffff || len(got.Data) != 14+int(binary.BigEndian.Uint16(data[16:])) {
				t.Fatal("checksum or length is wrong")
			}
		} else {
			back[21]++
			if len(got.Data) != 54+int(binary.BigEndian.Uint16(data[18:])) {
				t.Fatal("length is wrong")
			}
		}
		if !bytes.Equal(back, data[:len(back)]) || !bytes.Equal(got.Data[:6], hop.DstMAC[:]) || !bytes.Equal(got.Data[6:12], hop.SrcMAC[:]) || got.Out == in {
			t.Fatalf("left as\n%x, came as\n%x", got.Data, data)
		}
	})
}
