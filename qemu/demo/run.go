package demo

import (
	"context"
	"errors"
	"fmt"
	"os"

	"weir/images/progress"
	"weir/qemu/gateway"
	"weir/qemu/lab"
	"weir/qemu/traffic"
)

// Directions of an Iperf.
const (
	ToServer = "client to server"
	ToClient = "server to client"
)

// What emulation on two busy cores carries without loss, with room to spare:
// a forwarded frame costs 20,000 to 40,000 emulated instructions.
const (
	udpMbits   = 4
	loadRate   = 2500
	loadFrames = 20000
	loadFlows  = 1000
	seconds    = 3
	pings      = 10
)

// Options of Run.
type Options struct {
	Image *gateway.Image
	NoTap bool
	// Seed of the load; 0 takes a fixed one.
	Seed    uint64
	Console *os.File // gets a copy of the guest's console
	// Keep is called, if set, with the gateway still running after the checks.
	Keep   func(*gateway.Gateway, *Result)
	Report *progress.Reporter
}

// defaultSeed repeats the same load from run to run.
const defaultSeed = 20261

// Run shows it all. The Result is filled as far as it got; the error is what
// kept it from going on, not a check that failed.
func Run(ctx context.Context, o Options) (r *Result, err error) {
	b := o.Image.Board
	r = &Result{Board: b.Name, LoadRate: loadRate}
	hw := (&gateway.Options{Image: o.Image}).Hardware()
	r.Machine = fmt.Sprintf("QEMU %s, %s, %d CPUs, %d MB", hw.Machine, hw.CPU, hw.SMP, hw.MemoryMB)

	var l *lab.Lab
	err = step(o.Report, "make the lab: client - [lan] gateway [wan] - server", func() (string, error) {
		if l, err = lab.New(lab.Config{Queues: hw.SMP, NoTap: o.NoTap}); err != nil {
			return "", err
		}
		r.Queues = l.Queues()
		r.Lab = fmt.Sprintf("network namespaces %s and %s, taps with %d queues", l.Client.Namespace, l.Server.Namespace, l.Queues())
		if l.Relayed {
			r.Lab = fmt.Sprintf("network namespaces %s and %s, relays with one queue, not multi-queue taps (%s)", l.Client.Namespace, l.Server.Namespace, l.Why)
		}
		return r.Lab, nil
	})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()

	var g *gateway.Gateway
	err = step(o.Report, "boot "+b.Name, func() (string, error) {
		if g, err = gateway.Start(ctx, gateway.Options{Image: o.Image, Lab: l, Console: o.Console}); err != nil {
			return "", err
		}
		if err := g.WaitUp(ctx); err != nil {
			return "", errors.Join(err, g.Close())
		}
		r.UpMS = g.Up.Milliseconds()
		return fmt.Sprintf("up %.1f s after its kernel started", g.Up.Seconds()), nil
	})
	if err != nil {
		return r, err
	}
	defer func() {
		if ctx.Err() != nil {
			err = errors.Join(err, g.Close())
			return
		}
		err = errors.Join(err, step(o.Report, "switch the gateway off", func() (string, error) { return "", g.PowerOff(ctx) }))
	}()
	err = traverse(ctx, o, r, g)
	for i, h := range []*lab.Host{l.Client, l.Server} {
		var derr error
		r.LabDropped[i], derr = h.Dropped()
		err = errors.Join(err, derr)
	}
	if err != nil {
		if s, serr := g.Status(ctx); serr == nil { // so that the table shows where it stands
			r.Boot, r.After = s.Boot, s.Forwarder
		}
		return r, err
	}
	r.check(l)
	if o.Keep != nil {
		o.Keep(g, r)
	}
	return r, nil
}

// traverse sends all the traffic.
func traverse(ctx context.Context, o Options, r *Result, g *gateway.Gateway) error {
	l := g.Lab
	if err := step(o.Report, "wait until client and server reach each other", func() (string, error) {
		return "", g.WaitReachable(ctx)
	}); err != nil {
		return err
	}
	to := [2]string{l.Server.Addr[0].Addr().String(), l.Server.Addr[1].Addr().String()}
	for i, family := range []int{4, 6} {
		if err := step(o.Report, fmt.Sprintf("ping IPv%d, client to server", family), func() (string, error) {
			p, err := ping(ctx, l.Client, family, to[i], pings)
			r.Pings = append(r.Pings, p)
			return fmt.Sprintf("%d of %d came back, TTL %v, %s ms", p.Received, p.Sent, p.TTL, p.RTT), err
		}); err != nil {
			return err
		}
	}
	if err := iperfs(ctx, o, r, l); err != nil {
		return err
	}
	s, err := g.Status(ctx)
	if err != nil {
		return err
	}
	r.Boot, r.Before = s.Boot, s.Forwarder
	load := traffic.Load{Seed: o.Seed, Flows: loadFlows, Frames: loadFrames, Rate: loadRate}
	if load.Seed == 0 {
		load.Seed = defaultSeed
	}
	if err := step(o.Report, fmt.Sprintf("load: %d frames of %d flows, IPv4 and IPv6, %d a second (seed %d)", loadFrames, loadFlows, loadRate, load.Seed), func() (string, error) {
		r.Load, err = traffic.Run(ctx, gateway.End(l.Client), gateway.End(l.Server), load)
		if err != nil {
			return "", err
		}
		return r.Load.String(), nil
	}); err != nil {
		return err
	}
	if s, err = g.Status(ctx); err != nil {
		return err
	}
	r.Boot, r.After = s.Boot, s.Forwarder
	return context.Cause(ctx)
}

func iperfs(ctx context.Context, o Options, r *Result, l *lab.Lab) error {
	for _, i := range []Iperf{
		{Protocol: "TCP", Family: 4, Direction: ToServer}, {Protocol: "TCP", Family: 6, Direction: ToClient},
		{Protocol: "UDP", Family: 4, Direction: ToServer, Asked: udpMbits}, {Protocol: "UDP", Family: 4, Direction: ToClient, Asked: udpMbits},
		{Protocol: "UDP", Family: 6, Direction: ToServer, Asked: udpMbits}, {Protocol: "UDP", Family: 6, Direction: ToClient, Asked: udpMbits},
	} {
		what := fmt.Sprintf("iperf3 %s, IPv%d, %s", i.Protocol, i.Family, i.Direction)
		if i.Protocol == "UDP" {
			what += fmt.Sprintf(", %d Mbit/s", udpMbits)
		}
		if err := step(o.Report, what, func() (string, error) {
			m, err := IperfRun(ctx, l.Client, l.Server, i, seconds)
			if err != nil {
				return "", err
			}
			r.Iperf = append(r.Iperf, m)
			note := fmt.Sprintf("%.1f Mbit/s", m.Mbits)
			if m.Protocol == "UDP" {
				note += fmt.Sprintf(", %d of %d lost", m.Lost, m.Packets)
			}
			return note, nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// step shows f while it runs and what it says at the end.
func step(p *progress.Reporter, what string, f func() (string, error)) error {
	s := p.Begin(0, "%s", what)
	note, err := f()
	if err != nil {
		s.Fail()
		return fmt.Errorf("%s: %w", what, err)
	}
	s.Done(note)
	return nil
}
