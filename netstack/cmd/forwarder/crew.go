package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"weir/drivers/handoff"
	"weir/drivers/umem"
	"weir/drivers/xdp"
	"weir/drivers/xsk"
	"weir/netstack/frame"
	"weir/netstack/snapshot"
	"weir/netstack/stats"
	"weir/netstack/worker"
)

// crew is the workers that run together, with everything they own. It is built
// and ended as a whole: ports come and go seldom, and a worker's frames cannot
// outlive its sockets.
type crew struct {
	seen    map[string]place
	members []*member
	links   []*handoff.Receiver
	keeper  *keeper
	end     context.CancelFunc // ends the lease
	done    sync.WaitGroup
}

// member is one worker.
type member struct {
	id      int
	cpu     int // -1: any
	frames  *umem.UMEM
	sockets []*socket
	stats   stats.Worker
	inputs  []worker.Input
	outputs [frame.MaxPorts]worker.Output
	w       *worker.Worker
}

// socket is one queue of one port.
type socket struct {
	*xsk.Socket
	queue, worker int
}

// portError is a failure that concerns one port alone.
type portError struct {
	port string
	err  error
}

func (e *portError) Error() string { return e.err.Error() }
func (e *portError) Unwrap() error { return e.err }

// handOver bounds the frames under way between two workers: what arrives in the
// time that a busy machine keeps the receiving one waiting, half a TX ring.
const handOver = 1024

// hire makes and starts workers for the carried ports: as many as there are
// CPUs, but no more than the widest port has RX queues.
func (p *plane) hire(s *snapshot.Snapshot) (_ *crew, err error) {
	ports := p.carried()
	c := &crew{}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	cpus, err := allowedCPUs()
	if err != nil {
		return nil, err
	}
	wide, mtu := 0, 0
	for _, o := range ports {
		o.sockets = nil
		wide, mtu = max(wide, o.q.rx), max(mtu, s.Ports[o.id].MTU)
	}
	n := min(len(cpus), wide)
	if p.opts.workers > 0 {
		n = min(p.opts.workers, wide)
	}
	size, frames := frameSize(mtu), p.opts.frames
	for _, o := range ports {
		if o.q.tx < n { // some worker lends frames to others
			frames = p.opts.frames + (n-1)*handOver
		}
	}
	for i := range n {
		m := &member{id: i, cpu: -1}
		if p.opts.cpus {
			m.cpu = cpus[i%len(cpus)]
		}
		if m.frames, err = umem.New(frames, size); err != nil {
			return nil, fmt.Errorf("worker %d: %w", i, err)
		}
		c.members = append(c.members, m)
	}
	for _, o := range ports {
		want := o.set
		want.MaxLen = maxLen(c)
		if err := o.tell(want); err != nil {
			return nil, &portError{o.name, err}
		}
		if err := c.equip(o); err != nil {
			return nil, &portError{o.name, err}
		}
	}
	if err := c.link(ports); err != nil {
		return nil, err
	}
	return c, p.start(c, ports)
}

// maxLen is the longest frame that a worker's buffer takes.
func maxLen(c *crew) int {
	if len(c.members) == 0 {
		return 0
	}
	return c.members[0].frames.Usable()
}

// frameSize is the smallest frame that holds a packet of mtu bytes with its
// Ethernet header, or a page: longer packets are then the kernel's.
func frameSize(mtu int) int {
	if mtu+14 <= 2048-umem.PacketHeadroom {
		return 2048
	}
	return min(4096, unix.Getpagesize())
}

// unfinished are the drivers of virtual links, which leave checksums to a device
// that is not there, and do not say so to XDP (drivers/net/veth.c, tun.c).
var unfinished = map[string]bool{"veth": true, "tun": true}

// equip opens the sockets of one port: every RX queue has one, at the worker
// queue modulo workers; every worker has a TX queue of its number, as long as
// the port has so many.
func (c *crew) equip(o *port) error {
	n := len(c.members)
	for q := range max(o.q.rx, min(n, o.q.tx)) {
		m := c.members[q%n]
		x, err := xsk.Open(m.frames, o.ifindex, q, xsk.Options{Port: o.id, Label: "port " + o.name})
		if err != nil {
			return err
		}
		k := &socket{x, q, m.id}
		m.sockets = append(m.sockets, k)
		o.sockets = append(o.sockets, k)
		m.inputs = append(m.inputs, worker.Input{Port: x, Queue: q, Unfinished: unfinished[o.driver]})
		if q < n && q < o.q.tx {
			m.outputs[o.id] = worker.Output{Sender: x}
		}
	}
	return nil
}

// link joins each worker that has no TX queue on a port to one that has.
func (c *crew) link(ports []*port) error {
	type pair struct{ from, to int }
	senders := map[pair]*handoff.Sender{}
	for _, o := range ports {
		for i, m := range c.members {
			if m.outputs[o.id].Sender != nil {
				continue
			}
			pr := pair{i, i % min(len(c.members), o.q.tx)}
			to := c.members[pr.to]
			if senders[pr] == nil {
				s, r, err := handoff.New(buffers{m.frames}, buffers{to.frames}, handOver)
				if err != nil {
					return err
				}
				senders[pr] = s
				c.links = append(c.links, r)
				to.inputs = append(to.inputs, worker.Input{Port: r, Decided: true})
			}
			m.outputs[o.id] = worker.Output{Sender: senders[pr], HandOver: true}
		}
	}
	return nil
}

// buffers are a worker's frames as handoff sees them: packets begin behind the
// headroom, as received ones do.
type buffers struct{ u *umem.UMEM }

func (b buffers) Get() (uint64, bool) {
	a, ok := b.u.Get()
	return a + umem.PacketHeadroom, ok
}
func (b buffers) Put(addr uint64) { b.u.Put(addr) }
func (b buffers) Room(addr uint64) []byte {
	return b.u.Packet(addr, b.u.Size()-int(addr-b.u.Base(addr)))
}

// start lets the workers run, and then the frames come.
func (p *plane) start(c *crew, ports []*port) error {
	byID := [frame.MaxPorts]int{} // ifindex
	for _, o := range ports {
		byID[o.id] = o.ifindex
	}
	for _, m := range c.members {
		call := p.punter.NewCall()
		var err error
		m.w, err = worker.New(worker.Config{
			ID: m.id, CPU: m.cpu, Inputs: m.inputs, Outputs: m.outputs, Snapshot: &p.snap, Stats: &m.stats,
			Punt: func(in frame.PortID, queue int, data []byte) error { return call.Punt(byID[in], queue, data) },
		}, xdp.MaxNextHops)
		if err != nil {
			return err
		}
		for _, k := range m.sockets {
			k.Service() // frames to receive into, before the first one comes
		}
	}
	for _, o := range ports {
		for _, k := range o.sockets {
			if k.queue >= o.q.rx {
				continue
			}
			if err := o.prog.SetSocket(k.queue, k.FD()); err != nil {
				return &portError{o.name, err}
			}
		}
	}
	k := &keeper{renew: p.tables.Renew, log: p.log}
	c.keeper = k
	for _, m := range c.members {
		k.workers = append(k.workers, m.w)
		c.done.Go(func() {
			if err := m.w.Run(); err != nil {
				p.log.Error("worker ended: the kernel forwards", "err", err)
			}
		})
	}
	ctx, end := context.WithCancel(context.Background())
	c.end = end
	c.done.Go(func() { k.run(ctx) })
	return nil
}

// dismiss ends the workers and frees what they own. Their ports' programs pass
// everything to the kernel from here on.
func (p *plane) dismiss() {
	if p.crew == nil {
		return
	}
	c := p.crew
	p.crew = nil
	if c.end != nil {
		c.end()
	}
	if err := p.tables.Renew(0); err != nil {
		p.log.Error("cannot end the lease", "err", err)
	}
	if err := c.close(); err != nil {
		p.log.Warn("cannot free a worker", "err", err)
	}
	for _, o := range p.ports {
		o.sockets = nil
	}
	for _, m := range c.members {
		for len(p.past) <= m.id {
			p.past = append(p.past, stats.Tally{})
		}
		t := m.stats.Read()
		p.past[m.id].Add(&t)
	}
}

// close stops the workers that run and frees everything.
func (c *crew) close() error {
	for _, m := range c.members {
		if m.w != nil {
			m.w.Stop()
		}
	}
	c.done.Wait()
	var errs []error
	for _, m := range c.members {
		if m.w != nil {
			errs = append(errs, m.w.Close())
		}
		for _, k := range m.sockets {
			errs = append(errs, k.Close())
		}
	}
	for _, r := range c.links {
		errs = append(errs, r.Close())
	}
	for _, m := range c.members {
		if m.frames != nil {
			errs = append(errs, m.frames.Close())
		}
	}
	return errors.Join(errs...)
}

// allowedCPUs lists the CPUs this process may run on.
func allowedCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("ask for the allowed CPUs: %w", err)
	}
	var out []int
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no allowed CPU among %d", runtime.NumCPU())
	}
	return out, nil
}
