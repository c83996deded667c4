package main

import (
	"fmt"
	"net"
	"os"
	"time"

	"weir/internal/version"
	"weir/netstack/frame"
	"weir/netstack/mirror"
	"weir/netstack/snapshot"
	"weir/netstack/stats"
	"weir/netstack/status"
)

// status draws the whole document.
func (p *plane) status(m *mirror.Mirror, started time.Time) *status.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.snap.Load()
	d := &status.Status{
		Version: version.Version, PID: os.Getpid(), UptimeSec: time.Since(started).Seconds(),
		Generation: s.Generation, Ports: []status.Port{}, Workers: []status.Worker{},
		Tiers: map[string]uint64{"xdp": 0, "worker": 0, "kernel": 0},
	}
	d.Table.Routes4, d.Table.Routes6 = s.FIB.Len()
	for i := range s.NextHops {
		if s.NextHops[i].Kind == snapshot.KindForward {
			d.Table.NextHops++
		}
	}
	d.Table.Resyncs = m.Stats().Resyncs
	d.Table.ApplyMicros = uint64(m.Stats().LastApply.Microseconds())
	for _, f := range p.opts.ports {
		d.Ports = append(d.Ports, p.portStatus(f, s, d))
	}
	if p.crew != nil {
		for _, w := range p.crew.members {
			d.Workers = append(d.Workers, p.workerStatus(w, d))
		}
		d.XDP.Lease = p.crew.keeper != nil && p.crew.keeper.held.Load()
	}
	return d
}

// portStatus draws one port, and adds what its program passed to the tiers.
func (p *plane) portStatus(f portFlag, s *snapshot.Snapshot, d *status.Status) status.Port {
	out := status.Port{Name: f.name, Tier: "kernel", TierWhy: p.unfit[f.name], Punts: map[string]uint64{}, Slow: []string{}, Sockets: []status.Socket{}}
	if id, ifindex := find(s, f.name); ifindex != 0 {
		sp := &s.Ports[id]
		out.IfIndex, out.MTU, out.MAC = sp.IfIndex, sp.MTU, net.HardwareAddr(sp.MAC[:]).String()
		out.Fast4, out.Fast6 = sp.Fast4, sp.Fast6
		out.Slow = append(out.Slow, sp.Slow...)
	}
	if p.err != nil {
		out.Slow = append(out.Slow, "the XDP maps could not be written: "+p.err.Error())
		out.Fast4, out.Fast6 = false, false
	}
	o := p.ports[f.name]
	if o == nil {
		if d, err := p.eth.DriverName(f.name); err == nil {
			out.Driver = d
		}
		return out
	}
	out.Tier, out.Driver, out.Mode = "afxdp", o.driver, string(o.prog.Mode())
	out.TierWhy = fmt.Sprintf("asked for %s; %s XDP", f.tier, o.prog.Mode())
	if !out.Fast4 && !out.Fast6 {
		out.Tier, out.TierWhy = "kernel", "neither family may leave the kernel path"
	}
	out.RXQueues, out.TXQueues = o.q.rx, o.q.tx
	if c, err := o.prog.Counters(); err == nil {
		out.ToWorker = c[frame.ReasonNone]
		c[frame.ReasonNone] = 0
		out.Punts = stats.ByName(&c)
		for _, n := range c {
			d.Tiers["kernel"] += n
		}
	}
	if id, jited, err := o.prog.Info(); err == nil {
		d.XDP.ID = id
		if d.XDP.JitedSize == 0 || jited < d.XDP.JitedSize {
			d.XDP.JitedSize = jited
		}
	}
	d.XDP.TookOver = d.XDP.TookOver || o.prog.TookOver()
	for _, k := range o.sockets {
		st, err := k.Stats()
		if err != nil {
			p.log.Warn("cannot read a socket's statistics", "err", err)
		}
		out.Sockets = append(out.Sockets, status.Socket{
			Queue: k.queue, Worker: k.worker, RX: st.RXFrames, TX: st.TXFrames, Kicks: st.Kicks, KickErrors: st.Errors,
			RXDropped: st.RXDropped, RXRingFull: st.RXRingFull, FillEmpty: st.RXFillEmpty, TXInvalid: st.TXInvalidDesc,
		})
	}
	return out
}

// workerStatus draws one worker, and adds what it did to the tiers.
func (p *plane) workerStatus(m *member, d *status.Status) status.Worker {
	t := m.stats.Read()
	if m.id < len(p.past) {
		t.Add(&p.past[m.id])
	}
	d.Tiers["worker"] += t.Forwarded
	d.Tiers["kernel"] += t.Punted()
	return status.Worker{
		ID: m.id, CPU: m.cpu, RX: t.RX, Forwarded: t.Forwarded, HandedOver: t.HandedOver, Batches: t.Batches, Polls: t.Polls,
		Punts: stats.ByName(&t.Punts), Drops: stats.ByName(&t.Drops), Frames: m.frames.Frames(),
	}
}
