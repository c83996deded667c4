package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/safchain/ethtool"

	"weir/drivers/xdp"
	"weir/netstack/frame"
	"weir/netstack/snapshot"
	"weir/netstack/stats"
)

// plane is the data plane: programs on the ports, workers, and the snapshot they
// all go by. mu guards everything but snap, which workers read without it.
type plane struct {
	opts *options
	log  *slog.Logger
	eth  *ethtool.Ethtool
	snap atomic.Pointer[snapshot.Snapshot]

	mu      sync.Mutex
	tables  *xdp.Tables
	punter  *xdp.Punter
	maps    writer
	ports   map[string]*port // carried, by interface name
	orphans map[int]*port    // by interface index: programs whose interface is no port for now
	unfit   map[string]string
	crew    *crew
	past    []stats.Tally // of earlier crews, by worker
	applied time.Duration // what the last update took
	err     error         // of the last update
	ready   chan struct{} // closed after the first update
	once    sync.Once
}

// port is a port that has a steering program.
type port struct {
	name    string
	id      frame.PortID
	ifindex int
	driver  string
	q       queues
	prog    *xdp.Program
	orphan  time.Time // since when its interface is no port; zero: it is one
	set     xdp.Port  // what the program was told last
	sockets []*socket
}

// newPlane makes the maps; nothing is on any port yet.
func newPlane(o *options, log *slog.Logger) (*plane, error) {
	p := &plane{opts: o, log: log, ports: map[string]*port{}, orphans: map[int]*port{}, unfit: map[string]string{}, ready: make(chan struct{})}
	var err error
	if p.eth, err = ethtool.NewEthtool(); err != nil {
		return nil, fmt.Errorf("open an ethtool socket: %w", err)
	}
	if p.tables, err = xdp.NewTables(); err != nil {
		return nil, err
	}
	if p.punter, err = p.tables.NewPunter(); err != nil {
		return nil, errors.Join(err, p.tables.Close())
	}
	p.maps.tables = p.tables
	return p, nil
}

// update brings everything to a new snapshot. It is called for every one, in
// order.
func (p *plane) update(_, next *snapshot.Snapshot, changed []netip.Prefix) {
	start := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.moved(next) {
		p.rebuild(next)
		changed = nil
	}
	p.err = p.apply(overlay(next, p.unfit), changed)
	if p.err != nil {
		// The maps may be half old, half new. The kernel forwards until they are whole
		// again: the next snapshot writes all of them.
		p.log.Error("cannot write the XDP maps: the kernel forwards", "err", p.err)
		p.maps.prev = nil
	}
	p.applied = time.Since(start)
	p.once.Do(func() { close(p.ready) })
}

// apply puts a snapshot in force: workers first where something becomes the
// kernel's, programs last where something becomes fast.
func (p *plane) apply(s *snapshot.Snapshot, changed []netip.Prefix) error {
	p.snap.Store(s)
	var errs []error
	for _, o := range p.ports {
		want := o.want(s)
		want.Fast4, want.Fast6 = want.Fast4 && o.set.Fast4, want.Fast6 && o.set.Fast6
		errs = append(errs, o.tell(want))
	}
	if err := errors.Join(append(errs, p.maps.write(s, changed))...); err != nil {
		for _, o := range p.ports {
			off := o.set
			off.Fast4, off.Fast6 = false, false
			err = errors.Join(err, o.tell(off))
		}
		return err
	}
	for _, o := range p.ports {
		errs = append(errs, o.tell(o.want(s)))
	}
	return errors.Join(errs...)
}

// want is what the port's program has to know.
func (o *port) want(s *snapshot.Snapshot) xdp.Port {
	w := o.set
	if int(o.id) < len(s.Ports) && s.Ports[o.id].IfIndex == o.ifindex {
		sp := &s.Ports[o.id]
		w.Name, w.MAC, w.Fast4, w.Fast6 = sp.Name, sp.MAC, sp.Fast4, sp.Fast6
	} else {
		w.Fast4, w.Fast6 = false, false
	}
	return w
}

// tell writes w to the program, if it is news.
func (o *port) tell(w xdp.Port) error {
	if w == o.set {
		return nil
	}
	if err := o.prog.SetPort(w); err != nil {
		return err
	}
	o.set = w
	return nil
}

// moved reports whether the set of ports is another one than the plane was
// built for: one appeared, went, or is another device now.
func (p *plane) moved(s *snapshot.Snapshot) bool {
	if p.crew == nil {
		return true
	}
	for _, f := range p.opts.ports {
		id, ifindex := find(s, f.name)
		if id != p.crew.seen[f.name].id || ifindex != p.crew.seen[f.name].ifindex {
			return true
		}
	}
	return false
}

// place is where the plane saw a port.
type place struct {
	id      frame.PortID
	ifindex int
}

// find looks a port up by name; ifindex 0: not there.
func find(s *snapshot.Snapshot, name string) (frame.PortID, int) {
	for i := range s.Ports {
		if s.Ports[i].Name == name && s.Ports[i].IfIndex != 0 {
			return frame.PortID(i), s.Ports[i].IfIndex
		}
	}
	return frame.NoPort, 0
}

// rebuild ends the workers, puts a program on every port that can have one, and
// starts workers for what is there now. A port that cannot be carried is the
// kernel's, with the reason in unfit; it stops no other.
func (p *plane) rebuild(s *snapshot.Snapshot) {
	p.dismiss()
	p.rename(s)
	seen := map[string]place{}
	clear(p.unfit)
	for _, f := range p.opts.ports {
		id, ifindex := find(s, f.name)
		seen[f.name] = place{id, ifindex}
		if ifindex == 0 {
			p.unfit[f.name] = "the port is not there"
			p.log.Warn("no such port: it is carried when it comes", "port", f.name)
			continue
		}
		if why := f.tier.refusal(); why != "" {
			p.unfit[f.name] = why
			continue
		}
		if err := p.carry(f, &s.Ports[id], id); err != nil {
			p.unfit[f.name] = err.Error()
			p.log.Warn("port stays with the kernel", "port", f.name, "why", err)
		}
	}
	p.sweep()
	for {
		hired, err := p.hire(s)
		if err == nil {
			p.crew = hired
			break
		}
		// One port's socket failed: go on without that port.
		var pe *portError
		if !errors.As(err, &pe) {
			p.log.Error("no workers: the kernel forwards", "err", err)
			for name := range p.ports {
				p.unfit[name] = err.Error()
			}
			p.crew = &crew{}
			break
		}
		p.unfit[pe.port] = pe.Error()
		p.log.Warn("port stays with the kernel", "port", pe.port, "why", pe.err)
		p.drop(p.ports[pe.port])
	}
	p.crew.seen = seen
}

// rename finds each program its port again by interface index: a port that got
// another name keeps its program, since attaching anew disturbs it. Programs
// whose interface is gone, or is no port any more, come off a little later.
func (p *plane) rename(s *snapshot.Snapshot) {
	old := p.orphans
	p.orphans = map[int]*port{}
	for _, o := range p.ports {
		old[o.ifindex] = o
		o.orphan = time.Time{}
	}
	clear(p.ports)
	for _, f := range p.opts.ports {
		_, ifindex := find(s, f.name)
		if o := old[ifindex]; o != nil && f.tier.refusal() == "" {
			o.name, o.orphan = f.name, time.Time{}
			p.ports[f.name] = o
			delete(old, ifindex)
		}
	}
	for _, o := range old {
		if !o.orphan.IsZero() {
			p.orphans[o.ifindex] = o
			continue
		}
		off := o.set
		off.Fast4, off.Fast6 = false, false
		if err := o.tell(off); err != nil {
			p.drop(o)
			continue
		}
		o.orphan = time.Now()
		p.orphans[o.ifindex] = o
	}
}

// orphanTime is how long a program stays on an interface that is no port any
// more: names are swapped by way of a third one.
const orphanTime = 5 * time.Second

// prune takes the programs off interfaces that are no ports for long.
func (p *plane) prune(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, o := range p.orphans {
		if now.Sub(o.orphan) > orphanTime {
			p.drop(o)
			delete(p.orphans, i)
		}
	}
}

// carry puts the steering program on a port, or finds it there.
func (p *plane) carry(f portFlag, sp *snapshot.Port, id frame.PortID) error {
	o := p.ports[f.name]
	if o == nil {
		set := xdp.Port{Name: f.name, IfIndex: sp.IfIndex, MAC: sp.MAC}
		prog, err := p.tables.Load(set)
		if err != nil {
			return err
		}
		modes := []xdp.Mode{xdp.Native}
		if f.tier == tierAFXDP {
			modes = append(modes, xdp.Generic)
		}
		if err := prog.Attach(p.opts.bpffs, modes...); err != nil {
			return errors.Join(err, prog.Close())
		}
		// Attached: what the program knows now includes the mode.
		if err := prog.SetPort(set); err != nil {
			return errors.Join(err, prog.Detach(), prog.Close())
		}
		driver, err := p.eth.DriverName(f.name)
		if err != nil {
			driver = "unknown"
		}
		o = &port{name: f.name, ifindex: sp.IfIndex, driver: driver, prog: prog, set: set}
		p.ports[f.name] = o
		p.log.Info("steering program is on the port", "port", f.name, "driver", driver, "mode", prog.Mode(), "took over", prog.TookOver())
	}
	o.id = id
	// After attaching, which changes the queues of some drivers.
	var err error
	if o.q, err = readQueues(p.eth, f.name); err != nil {
		p.drop(o)
	}
	return err
}

// drop takes the program off a port for good.
func (p *plane) drop(o *port) {
	if err := errors.Join(o.prog.Detach(), o.prog.Close()); err != nil {
		p.log.Warn("cannot take the program off the port", "port", o.name, "err", err)
	}
	if p.ports[o.name] == o {
		delete(p.ports, o.name)
	}
}

// sweep takes off what an earlier forwarder left on ports that are no longer
// carried.
func (p *plane) sweep() {
	swept, err := xdp.Sweep(p.opts.bpffs, func(ifindex int) bool {
		return p.orphans[ifindex] != nil || slices.ContainsFunc(p.carried(), func(o *port) bool { return o.ifindex == ifindex })
	})
	if err != nil {
		p.log.Warn("cannot clean up after an earlier forwarder", "err", err)
	}
	for _, i := range swept {
		p.log.Info("took an earlier forwarder's program off", "ifindex", i)
	}
}

// carried lists the ports with a program, in the order of the command line.
func (p *plane) carried() []*port {
	var out []*port
	for _, f := range p.opts.ports {
		if o := p.ports[f.name]; o != nil {
			out = append(out, o)
		}
	}
	return out
}

// stop is the orderly end: the kernel forwards, the workers end, the programs
// come off.
func (p *plane) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dismiss()
	for _, o := range p.carried() {
		p.drop(o)
	}
	for _, o := range p.orphans {
		p.drop(o)
	}
	if err := errors.Join(p.punter.Close(), p.tables.Close()); err != nil {
		p.log.Warn("cannot free the maps", "err", err)
	}
	p.eth.Close()
}
