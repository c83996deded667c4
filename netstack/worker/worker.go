package worker

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"weir/netstack/forward"
	"weir/netstack/frame"
	"weir/netstack/snapshot"
	"weir/netstack/stats"
)

// Input is something a worker receives from.
type Input struct {
	Port Receiver
	// Queue is the RX queue, told to the kernel with a punted frame.
	Queue int
	// Decided: the frames were decided and rewritten by another worker; only the
	// sending is left.
	Decided bool
	// Unfinished: the link hands over half-done checksums (forward.FinishChecksums).
	Unfinished bool
}

// Output is where a worker sends what leaves by a port.
type Output struct {
	Sender
	// HandOver: the Sender is another worker, which owns the port's TX queue.
	HandOver bool
}

// Config is what a worker is made of. Inputs and Outputs share the worker's
// frames and are used by its thread alone.
type Config struct {
	ID  int
	CPU int // the CPU the thread is bound to; -1: any
	// Inputs are served in turn, a batch each.
	Inputs []Input
	// Outputs by PortID. A port without an output must not be a snapshot's out
	// port: a frame decided for it is dropped as tx-error.
	Outputs [frame.MaxPorts]Output
	// Snapshot is loaded once a batch.
	Snapshot *atomic.Pointer[snapshot.Snapshot]
	// Punt hands a frame to the kernel as if it had just arrived on the port and
	// queue. It copies the frame. It is for what is rare: it may be a system call
	// per frame.
	Punt func(in frame.PortID, queue int, data []byte) error
	// Stats receives the counters; this worker is their only writer.
	Stats *stats.Worker
}

// spins is how many rounds without a frame a worker makes before it blocks in
// poll(2). A few, so that a flow with small gaps pays no wake-up; not more,
// because the worker may sit on the CPU whose softirq fills its queue, and
// spinning there costs three times the work.
const spins = 4

// pollMillis bounds a wait, so that an idle worker still shows that it lives
// and frames stuck in completion rings come back.
const pollMillis = 100

// Worker is one packet thread.
type Worker struct {
	cfg   Config
	batch frame.Batch
	out   sorter
	tally stats.Tally
	polls []unix.PollFd
	wake  int // eventfd: ends a poll
	stop  atomic.Bool
	beat  atomic.Uint64
	used  []atomic.Uint32 // by next hop id: stale and sent to
}

// New makes a worker; Run works. nextHops bounds the ids of next hops.
func New(cfg Config, nextHops int) (*Worker, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("worker %d: eventfd: %w", cfg.ID, os.NewSyscallError("eventfd2", err))
	}
	w := &Worker{cfg: cfg, wake: fd, used: make([]atomic.Uint32, nextHops)}
	w.polls = append(w.polls, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	for _, in := range cfg.Inputs {
		w.polls = append(w.polls, unix.PollFd{Fd: int32(in.Port.FD()), Events: unix.POLLIN})
	}
	return w, nil
}

// Run works until Stop, on a thread of its own that it never gives back. It
// returns an error only if the thread cannot be bound to its CPU.
func (w *Worker) Run() error {
	runtime.LockOSThread()
	if w.cfg.CPU >= 0 {
		var set unix.CPUSet
		set.Set(w.cfg.CPU)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return fmt.Errorf("worker %d: bind to CPU %d: %w", w.cfg.ID, w.cfg.CPU, err)
		}
	}
	empty := 0
	for !w.stop.Load() {
		n := 0
		for i := range w.cfg.Inputs {
			n += w.round(&w.cfg.Inputs[i])
		}
		w.beat.Add(1)
		if n > 0 {
			empty = 0
			continue
		}
		if empty++; empty >= spins {
			w.tally.Polls++
			w.cfg.Stats.Add(&w.tally)
			w.sleep()
		}
	}
	return nil
}

// sleep blocks until a frame arrives, another thread calls Stop, or pollMillis.
func (w *Worker) sleep() {
	for i := range w.polls {
		w.polls[i].Revents = 0
	}
	// EINTR and a dead socket (its port went away) look like "no frame"; the
	// forwarder rebuilds the workers when a port goes.
	n, err := unix.Poll(w.polls, pollMillis)
	if err == nil && n > 0 && w.polls[0].Revents == 0 && w.onlyErrors() {
		_, _ = unix.Poll(w.polls[:1], pollMillis)
	}
}

// onlyErrors: every ready descriptor reports an error, so polling again at once
// would spin.
func (w *Worker) onlyErrors() bool {
	for _, p := range w.polls {
		if p.Revents&unix.POLLIN != 0 {
			return false
		}
	}
	return true
}

// round serves one input: at most a batch.
func (w *Worker) round(in *Input) int {
	in.Port.Service()
	b := &w.batch
	b.N = 0
	n := in.Port.Receive(b)
	if n == 0 {
		return 0
	}
	w.tally.RX += uint64(n)
	w.tally.Batches++
	if !in.Decided {
		w.decide(in, b)
	} else {
		w.out.sort(b)
	}
	w.send(in, b)
	w.cfg.Stats.Add(&w.tally)
	return n
}

// decide gives every frame its verdict, and the kernel what is the kernel's.
func (w *Worker) decide(in *Input, b *frame.Batch) {
	if in.Unfinished {
		forward.FinishChecksums(b)
	}
	s := w.cfg.Snapshot.Load()
	forward.Process(s, b)
	w.out.sort(b)
	for _, i := range w.out.punts[:w.out.nPunts] {
		f := &b.F[i]
		if err := w.cfg.Punt(f.In, in.Queue, f.Data); err != nil {
			w.tally.Drops[frame.ReasonPuntError]++
			continue
		}
		w.tally.Punts[f.Reason]++
	}
	for _, p := range w.out.ports[:w.out.nPorts] {
		for _, i := range w.out.list(p) {
			if id := b.F[i].NextHop; s.NextHops[id].Stale && w.used[id].Load() == 0 {
				w.used[id].Store(1)
			}
		}
	}
}

// send queues what goes out, gives back what does not, and starts the kernel.
func (w *Worker) send(in *Input, b *frame.Batch) {
	for _, p := range w.out.ports[:w.out.nPorts] {
		list, out := w.out.list(p), &w.cfg.Outputs[p]
		if out.Sender == nil {
			w.drop(list, frame.ReasonTxError)
			continue
		}
		sent := out.Send(b, list)
		out.Flush()
		if out.HandOver {
			w.tally.HandedOver += uint64(sent)
			w.drop(list[sent:], frame.ReasonNoBuffer)
		} else {
			w.tally.Forwarded += uint64(sent)
			w.drop(list[sent:], frame.ReasonTxFull)
		}
	}
	for _, i := range w.out.drops[:w.out.nDrops] {
		w.tally.Drops[b.F[i].Reason]++
	}
	w.out.nBack += copy(w.out.back[w.out.nBack:], w.out.drops[:w.out.nDrops])
	w.out.nBack += copy(w.out.back[w.out.nBack:], w.out.punts[:w.out.nPunts])
	if w.out.nBack > 0 {
		in.Port.Release(b, w.out.back[:w.out.nBack])
	}
}

// drop counts frames that were decided but not sent, and has them given back.
func (w *Worker) drop(list []uint8, why frame.Reason) {
	w.tally.Drops[why] += uint64(len(list))
	w.out.nBack += copy(w.out.back[w.out.nBack:], list)
}

// Stop makes Run return soon. Any goroutine may call it.
func (w *Worker) Stop() {
	w.stop.Store(true)
	_, _ = unix.Write(w.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

// Close frees what New made, after Run has returned.
func (w *Worker) Close() error { return unix.Close(w.wake) }

// Beat counts rounds: it moves as long as the worker lives, every pollMillis at
// least. Any goroutine may call it.
func (w *Worker) Beat() uint64 { return w.beat.Load() }

// TakeUsed calls f with the id of each stale next hop that was sent to since the
// last call. One goroutine at a time may call it.
func (w *Worker) TakeUsed(f func(id uint32)) {
	for i := range w.used {
		if w.used[i].Load() != 0 {
			w.used[i].Store(0)
			f(uint32(i))
		}
	}
}
