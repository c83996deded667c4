package traffic

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

var (
	here = End{Interface: "ta", MAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, GatewayMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2},
		Addr: [2]netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")}}
	there = End{Interface: "tb", MAC: net.HardwareAddr{2, 0, 0, 0, 0, 4}, GatewayMAC: net.HardwareAddr{2, 0, 0, 0, 0, 3},
		Addr: [2]netip.Addr{netip.MustParseAddr("198.51.100.1"), netip.MustParseAddr("2001:db8:1::1")}}
)

// route does to a frame what a router does.
func route(f []byte) []byte {
	copy(f, there.MAC)
	copy(f[6:], there.GatewayMAC)
	if f[12] == 0x86 {
		f[etherLen+7]--
		return f
	}
	ip := f[etherLen:]
	ip[8]--
	ip[10], ip[11] = 0, 0
	s := ^sum(0, ip[:v4Len])
	ip[10], ip[11] = byte(s>>8), byte(s)
	return f
}

func frames(t *testing.T, l Load) (Load, [][]byte) {
	t.Helper()
	l, err := l.check()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for i := range l.Frames {
		buf := make([]byte, 2048)
		out = append(out, buf[:l.build(buf, here, there, i%l.Flows, i/l.Flows)])
	}
	return l, out
}

func TestRightFramesPass(t *testing.T) {
	for _, only := range []int{0, 4, 6} {
		l, fs := frames(t, Load{Seed: 1, Flows: 10, Frames: 95, Rate: 1, Only: only})
		c := newChecker(l, here, there)
		for _, f := range fs {
			c.add(route(f), time.Now())
		}
		r := c.result(len(fs))
		if err := r.Err(); err != nil || r.Received != 95 || r.FlowsSeen != 10 {
			t.Errorf("only %d: %v, %+v", only, err, r)
		}
	}
}

// Each fault of a router is seen, named and fails the load.
func TestFaultsAreSeen(t *testing.T) {
	const at = 20 // an IPv4 frame; at+1 is IPv6
	cases := []struct {
		name   string
		break_ func(fs [][]byte) [][]byte
		count  func(*Result) int
		says   string
	}{
		{"lost", func(fs [][]byte) [][]byte { return append(fs[:at:at], fs[at+1:]...) }, func(r *Result) int { return r.Lost }, "1 lost"},
		{"lost at the end", func(fs [][]byte) [][]byte { return fs[:len(fs)-1] }, func(r *Result) int { return r.Lost }, "the last that came"},
		{"duplicated", func(fs [][]byte) [][]byte { return append(fs, fs[at]) }, func(r *Result) int { return r.Duplicated }, "came twice"},
		{"reordered", func(fs [][]byte) [][]byte { fs[at], fs[at+10] = fs[at+10], fs[at]; return fs }, func(r *Result) int { return r.Reordered }, "came after"},
		{"payload v4", func(fs [][]byte) [][]byte { fs[at][len(fs[at])-1] ^= 1; return fs }, func(r *Result) int { return r.Corrupted }, "another payload"},
		{"payload v6", func(fs [][]byte) [][]byte { fs[at+1][len(fs[at+1])-1] ^= 1; return fs }, func(r *Result) int { return r.Corrupted }, "another payload"},
		{"longer", func(fs [][]byte) [][]byte { fs[at+2] = append(fs[at+2], 0); return fs }, func(r *Result) int { return r.Corrupted }, "sent were"},
		{"cut", func(fs [][]byte) [][]byte { fs[at+2] = fs[at+2][:len(fs[at+2])-1]; return fs }, func(r *Result) int { return r.Corrupted }, "sent were"},
		{"header checksum", func(fs [][]byte) [][]byte { fs[at][etherLen+10] ^= 1; return fs }, func(r *Result) int { return r.BadChecksum }, "bad checksum"},
		{"UDP checksum v6", func(fs [][]byte) [][]byte { fs[at+1][etherLen+v6Len+6] ^= 1; return fs }, func(r *Result) int { return r.BadChecksum }, "bad checksum"},
		{"TTL v4 not decremented", func(fs [][]byte) [][]byte {
			ip := fs[at][etherLen:]
			ip[8]++
			ip[10], ip[11] = 0, 0
			s := ^sum(0, ip[:v4Len])
			ip[10], ip[11] = byte(s>>8), byte(s)
			return fs
		}, func(r *Result) int { return r.WrongTTL }, "has TTL 64"},
		{"hop limit twice", func(fs [][]byte) [][]byte { fs[at+1][etherLen+7]--; return fs }, func(r *Result) int { return r.WrongTTL }, "has TTL 62"},
		{"destination MAC", func(fs [][]byte) [][]byte { fs[at][5] ^= 1; return fs }, func(r *Result) int { return r.WrongMAC }, "is to"},
		{"source MAC", func(fs [][]byte) [][]byte { fs[at][11] ^= 1; return fs }, func(r *Result) int { return r.WrongMAC }, "is to"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l, fs := frames(t, Load{Seed: 7, Flows: 10, Frames: 100, Rate: 1})
			n := len(fs)
			for i := range fs {
				fs[i] = route(fs[i])
			}
			k := newChecker(l, here, there)
			for _, f := range c.break_(fs) {
				k.add(f, time.Now())
			}
			r := k.result(n)
			if err := r.Err(); c.count(r) != 1 || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("count %d, %v; want 1 and %q", c.count(r), err, c.says)
			}
		})
	}
}

// Frames of another run are none of this load's.
func TestOtherRunsDoNotCount(t *testing.T) {
	l, _ := frames(t, Load{Seed: 1, Flows: 1, Frames: 1, Rate: 1})
	_, other := frames(t, Load{Seed: 2, Flows: 1, Frames: 1, Rate: 1})
	c := newChecker(l, here, there)
	c.add(route(other[0]), time.Now())
	if r := c.result(1); r.Received != 0 || r.Lost != 1 {
		t.Errorf("%+v", r)
	}
}

func FuzzChecker(f *testing.F) {
	l, _ := Load{Seed: 1, Flows: 10, Frames: 100, Rate: 1}.check()
	buf := make([]byte, 2048)
	for flow := range 4 {
		f.Add(append([]byte(nil), buf[:l.build(buf, here, there, flow, 3)]...))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		c := newChecker(l, here, there)
		c.add(b, time.Now())
		if r := c.result(1); r.Received > 1 {
			t.Errorf("%+v", r)
		}
	})
}
