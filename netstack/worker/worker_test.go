package worker

import (
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/netstack/fib"
	"weir/netstack/frame"
	"weir/netstack/snapshot"
	"weir/netstack/stats"
)

// fakePort is one port in memory. Every frame it gave out has to come back,
// once: sent or released.
type fakePort struct {
	t     *testing.T
	id    frame.PortID
	queue [][]byte // to be received
	out   int      // frames with the worker
	sent  [][]byte
	room  int // what Send takes before the ring is full; -1: all
	flush int
	fd    int
}

func newFakePort(t *testing.T, id frame.PortID) *fakePort {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return &fakePort{t: t, id: id, room: -1, fd: fd}
}

func (p *fakePort) Receive(b *frame.Batch) int {
	n := 0
	for len(p.queue) > 0 && b.N < len(b.F) {
		b.F[b.N] = frame.Frame{Data: p.queue[0], In: p.id}
		b.N++
		n++
		p.out++
		p.queue = p.queue[1:]
	}
	return n
}

func (p *fakePort) Send(b *frame.Batch, idx []uint8) int {
	n := len(idx)
	if p.room >= 0 {
		n = min(n, p.room)
		p.room -= n
	}
	for _, i := range idx[:n] {
		p.sent = append(p.sent, append([]byte(nil), b.F[i].Data...))
	}
	return n
}

func (p *fakePort) Release(b *frame.Batch, idx []uint8) { p.out -= len(idx) }
func (p *fakePort) Flush()                              { p.flush++ }
func (p *fakePort) Service()                            {}
func (p *fakePort) FD() int                             { return p.fd }

var (
	macA = [6]byte{2, 0, 0, 0, 0, 0xa}
	macB = [6]byte{2, 0, 0, 0, 0, 0xb}
	hop  = [6]byte{2, 0, 0, 0, 0, 0xc}
)

// testSnapshot routes 10.2/16 from port 0 out of port 1, 10.9/16 out of port 5
// that nobody has.
func testSnapshot(stale bool) *snapshot.Snapshot {
	t := fib.New().With([]fib.Change{
		{Prefix: netip.MustParsePrefix("10.2.0.0/16"), Value: 1},
		{Prefix: netip.MustParsePrefix("10.9.0.0/16"), Value: 2},
	})
	return &snapshot.Snapshot{
		Generation: 1, FIB: t,
		Ports: []snapshot.Port{{Name: "a", IfIndex: 1, MAC: macA, MTU: 1500, Fast4: true}, {Name: "b", IfIndex: 2, MAC: macB, MTU: 1500, Fast4: true}},
		NextHops: []snapshot.NextHop{{},
			{Kind: snapshot.KindForward, Out: 1, MTU: 1500, DstMAC: hop, SrcMAC: macB, Stale: stale},
			{Kind: snapshot.KindForward, Out: 5, MTU: 1500, DstMAC: hop, SrcMAC: macB}},
	}
}

// packet is a valid frame to port a for 10.x.0.n.
func packet(x, n byte) []byte {
	f := make([]byte, 60)
	copy(f, macA[:])
	copy(f[6:], []byte{2, 0, 0, 0, 0, 9, 8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 1, 0, 2, 10, x, 0, n})
	fix(f)
	return f
}

type rig struct {
	a, b   *fakePort
	punted [][]byte
	refuse bool
	stats  stats.Worker
	w      *Worker
}

func newRig(t *testing.T, s *snapshot.Snapshot) *rig {
	r := &rig{a: newFakePort(t, 0), b: newFakePort(t, 1)}
	var snap atomic.Pointer[snapshot.Snapshot]
	snap.Store(s)
	cfg := Config{CPU: -1, Inputs: []Input{{Port: r.a, Queue: 3}, {Port: r.b}}, Snapshot: &snap, Stats: &r.stats,
		Punt: func(in frame.PortID, queue int, data []byte) error {
			if in != 0 || queue != 3 {
				t.Errorf("punted from port %d queue %d", in, queue)
			}
			if r.refuse {
				return errors.New("no")
			}
			r.punted = append(r.punted, append([]byte(nil), data...))
			return nil
		}}
	cfg.Outputs[0].Sender, cfg.Outputs[1].Sender = r.a, r.b
	w, err := New(cfg, 16)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	r.w = w
	return r
}

// run serves port a until nothing waits there.
func (r *rig) run() {
	for r.w.round(&r.w.cfg.Inputs[0]) > 0 {
	}
}

// balance: every frame received was sent, punted or dropped, and came back.
func (r *rig) balance(t *testing.T, sent int) {
	t.Helper()
	c := r.stats.Read()
	if got := c.Forwarded + c.HandedOver + c.Punted() + c.Dropped(); got != c.RX {
		t.Errorf("received %d, accounted for %d: %+v", c.RX, got, c)
	}
	if r.a.out != sent {
		t.Errorf("%d frames were not given back, %d were sent", r.a.out, sent)
	}
}

func TestForwardAndPunt(t *testing.T) {
	r := newRig(t, testSnapshot(false))
	odd := packet(2, 7)
	odd[22] = 1 // TTL: the checksum is wrong now as well, the kernel's business
	for i := range 100 {
		r.a.queue = append(r.a.queue, packet(2, byte(i)))
		if i%10 == 0 {
			r.a.queue = append(r.a.queue, append([]byte(nil), odd...))
		}
	}
	r.run()
	if len(r.b.sent) != 100 {
		t.Fatalf("sent %d of 100", len(r.b.sent))
	}
	for i, f := range r.b.sent {
		if [6]byte(f) != hop || [6]byte(f[6:]) != macB || f[22] != 63 || f[33] != byte(i) {
			t.Fatalf("frame %d left as % x", i, f[:34])
		}
	}
	if len(r.punted) != 10 || string(r.punted[0]) != string(odd) {
		t.Errorf("punted %d, first % x", len(r.punted), r.punted[0])
	}
	if c := r.stats.Read(); c.RX != 110 || c.Forwarded != 100 || c.Batches != 2 {
		t.Errorf("counted %+v", c)
	}
	r.balance(t, 100)
}

func TestTxFullIsCounted(t *testing.T) {
	r := newRig(t, testSnapshot(false))
	r.b.room = 5
	for i := range 12 {
		r.a.queue = append(r.a.queue, packet(2, byte(i)))
	}
	r.run()
	if c := r.stats.Read(); c.Forwarded != 5 || c.Drops[frame.ReasonTxFull] != 7 {
		t.Errorf("counted %+v", c)
	}
	r.balance(t, 5)
}

func TestNoOutput(t *testing.T) {
	r := newRig(t, testSnapshot(false))
	r.a.queue = append(r.a.queue, packet(9, 1))
	r.run()
	if c := r.stats.Read(); c.Drops[frame.ReasonTxError] != 1 {
		t.Errorf("counted %+v", c)
	}
	r.balance(t, 0)
}

func TestRefusedPuntIsCounted(t *testing.T) {
	r := newRig(t, testSnapshot(false))
	r.refuse = true
	r.a.queue = append(r.a.queue, packet(3, 1))
	r.run()
	if c := r.stats.Read(); c.Drops[frame.ReasonPuntError] != 1 || c.Punted() != 0 {
		t.Errorf("counted %+v", c)
	}
	r.balance(t, 0)
}

// What another worker decided is sent as it is.
func TestDecidedInput(t *testing.T) {
	r := newRig(t, testSnapshot(false))
	r.w.cfg.Inputs[0].Decided = true
	f := packet(2, 1)
	want := string(f)
	r.a.queue = append(r.a.queue, f)
	got := decided{r.a}
	r.w.cfg.Inputs[0].Port = got
	r.run()
	if len(r.b.sent) != 1 || string(r.b.sent[0]) != want {
		t.Errorf("sent %d, changed", len(r.b.sent))
	}
}

type decided struct{ *fakePort }

func (d decided) Receive(b *frame.Batch) int {
	n := d.fakePort.Receive(b)
	for i := range b.F[:b.N] {
		b.F[i].Verdict, b.F[i].Out = frame.VerdictForward, 1
	}
	return n
}

func TestUsedStaleNextHops(t *testing.T) {
	for _, stale := range []bool{false, true} {
		r := newRig(t, testSnapshot(stale))
		r.a.queue = append(r.a.queue, packet(2, 1), packet(2, 2))
		r.run()
		var ids []uint32
		r.w.TakeUsed(func(id uint32) { ids = append(ids, id) })
		if stale != (len(ids) == 1 && ids[0] == 1) {
			t.Errorf("stale %v: used %v", stale, ids)
		}
		ids = nil
		r.w.TakeUsed(func(id uint32) { ids = append(ids, id) })
		if len(ids) != 0 {
			t.Errorf("told twice: %v", ids)
		}
	}
}

// A worker sleeps when there is nothing, is woken by a frame, and stops.
func TestRunSleepsAndStops(t *testing.T) {
	r := newRig(t, testSnapshot(false))
	done := make(chan error, 1)
	go func() { done <- r.w.Run() }()
	deadline := time.Now().Add(20 * time.Second)
	for c := r.stats.Read(); c.Polls < 3; c = r.stats.Read() {
		if time.Now().After(deadline) {
			t.Fatalf("no sleep: %+v", c)
		}
		time.Sleep(time.Millisecond)
	}
	beat := r.w.Beat()
	for r.w.Beat() == beat {
		if time.Now().After(deadline) {
			t.Fatal("an idle worker shows no sign of life")
		}
		time.Sleep(time.Millisecond)
	}
	r.w.Stop()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Stop did not end Run")
	}
}

func TestNoAllocation(t *testing.T) {
	r := newRig(t, testSnapshot(true))
	fs := make([][]byte, 64)
	for i := range fs {
		fs[i] = packet(2, byte(i))
	}
	fs[7][12] = 0x88 // a punt among them
	r.w.cfg.Punt = func(frame.PortID, int, []byte) error { return nil }
	sink := &discard{}
	r.w.cfg.Outputs[1].Sender = sink
	ttl := fs[0][22]
	n := testing.AllocsPerRun(200, func() {
		for i := range fs { // as they arrived
			copy(fs[i], macA[:])
			fs[i][22] = ttl
			fs[i][24], fs[i][25] = 0, 0
			fix(fs[i])
		}
		r.a.queue = fs
		r.w.round(&r.w.cfg.Inputs[0])
	})
	if n != 0 {
		t.Errorf("%v allocations a round", n)
	}
	if sink.n == 0 {
		t.Error("nothing was forwarded")
	}
}

type discard struct{ n int }

func (d *discard) Send(_ *frame.Batch, idx []uint8) int { d.n += len(idx); return len(idx) }
func (d *discard) Flush()                               {}

// fix sets the header checksum.
func fix(f []byte) {
	var s uint32
	for i := 14; i < 34; i += 2 {
		s += uint32(f[i])<<8 | uint32(f[i+1])
	}
	s = s&0xffff + s>>16
	s = s&0xffff + s>>16
	f[24], f[25] = byte(^s>>8), byte(^s)
}
