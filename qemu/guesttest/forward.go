package guesttest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"weir/netstack/status"
	"weir/qemu/gateway"
	"weir/qemu/traffic"
)

// seed of the first load; each further one counts on, so that no frame of one
// is taken for another's.
const seed = 77

// settled waits until both ports are on the fast path for both families, with
// the neighbours known: a ping has asked for them.
func (e *env) settled(ctx context.Context) (*gateway.Status, error) {
	for _, a := range e.server.Addr {
		if err := e.ping(ctx, a.Addr().String()); err != nil {
			return nil, err
		}
	}
	s, err := e.WaitStatus(ctx, func(s *gateway.Status) string { return slow(s, true, true) })
	if err != nil {
		return nil, fmt.Errorf("the ports are not on the fast path: %w", err)
	}
	return s, nil
}

// slow says what is not as wanted: both ports fast for IPv4 and IPv6, or not.
func slow(s *gateway.Status, fast4, fast6 bool) string {
	if s.Forwarder == nil {
		return "the forwarder does not answer: " + strings.Join(s.Errors, "; ")
	}
	if len(s.Forwarder.Ports) == 0 {
		return "the forwarder has no ports"
	}
	for _, p := range s.Forwarder.Ports {
		if p.Fast4 != fast4 || p.Fast6 != fast6 || len(p.Sockets) == 0 {
			return fmt.Sprintf("%s: tier %s (%s), fast for IPv4 %v and IPv6 %v, %d sockets, slow because of %q",
				p.Name, p.Tier, p.TierWhy, p.Fast4, p.Fast6, len(p.Sockets), p.Slow)
		}
	}
	return ""
}

// ping is three echoes that must all come back.
func (e *env) ping(ctx context.Context, to string, args ...string) error {
	_, err := e.client.Run(ctx, append(append([]string{"ping", "-n", "-c", "3", "-i", "0.2", "-W", "2"}, args...), to)...)
	return err
}

// sent is a load and what it did to the counters of the forwarder.
type sent struct {
	*traffic.Result
	fast          uint64 // frames that workers forwarded
	before, after *status.Status
}

// load sends from the client to the server.
func (e *env) load(ctx context.Context, l traffic.Load) (*sent, error) {
	return e.loadBetween(ctx, gateway.End(e.client), gateway.End(e.server), l)
}

func (e *env) loadBetween(ctx context.Context, from, to traffic.End, l traffic.Load) (*sent, error) {
	l.Seed = seed + e.loads.Add(1)
	before, err := e.Status(ctx)
	if err != nil {
		return nil, err
	}
	r, err := traffic.Run(ctx, from, to, l)
	if err != nil {
		return nil, err
	}
	after, err := e.Status(ctx)
	if err != nil {
		return nil, err
	}
	if before.Forwarder == nil || after.Forwarder == nil {
		return nil, errors.New("the forwarder does not answer: " + strings.Join(append(before.Errors, after.Errors...), "; "))
	}
	s := &sent{Result: r, before: before.Forwarder, after: after.Forwarder}
	for _, w := range s.after.Workers {
		s.fast += w.Forwarded
	}
	for _, w := range s.before.Workers {
		s.fast -= w.Forwarded
	}
	e.log("%s; workers forwarded %d", r, s.fast)
	return s, nil
}

// throughWorkers is nil if everything arrived right and 95 % went through
// workers.
func (s *sent) throughWorkers() error {
	if err := s.Err(); err != nil {
		return err
	}
	if s.fast*100 < uint64(s.Received)*95 {
		return fmt.Errorf("workers forwarded %d of %d frames: less than 95 %%", s.fast, s.Received)
	}
	return nil
}

func boot(ctx context.Context, e *env) error {
	s, err := e.settled(ctx)
	if err != nil {
		return err
	}
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if s.Boot == nil || !s.Boot.Done {
		return errors.New("PID 1's report is not complete")
	}
	for _, st := range s.Boot.Steps {
		e.log("%-16s at %5d ms, %5d ms", st.Name, st.StartMS, st.TookMS)
		if len(st.Errors) > 0 {
			bad("step %s: %s", st.Name, strings.Join(st.Errors, "; "))
		}
	}
	for _, p := range s.Boot.Ports {
		if !p.Carrier || len(p.Errors) > 0 || p.Driver != "virtio_net" {
			bad("port %s: carrier %v, driver %s: %s", p.Label, p.Carrier, p.Driver, strings.Join(p.Errors, "; "))
		}
	}
	for _, v := range s.Boot.Services {
		if !v.Ready && v.Name == "forwarder" || v.Restarts > 0 {
			bad("service %s: ready %v, %d restarts: %s", v.Name, v.Ready, v.Restarts, v.LastExit)
		}
	}
	if s.Boot.Config != "/etc/weir.toml" {
		bad("configuration in force: %s (%s)", s.Boot.Config, strings.Join(s.Boot.Faults, "; "))
	}
	if s.Forwarder.XDP.JitedSize == 0 {
		bad("the XDP program is interpreted: its jited size is 0")
	}
	for _, p := range s.Forwarder.Ports {
		e.log("port %s: %s, %s, %d RX queues, program of %d jited bytes", p.Name, p.Tier, p.Mode, p.RXQueues, s.Forwarder.XDP.JitedSize)
		if p.Mode != "native" || p.RXQueues != e.queues {
			bad("port %s: XDP mode %q, %d RX queues, want native and %d", p.Name, p.Mode, p.RXQueues, e.queues)
		}
	}
	return errors.Join(errs...)
}

// forward: both families, through workers, spread over all queues.
func forward(ctx context.Context, e *env) error {
	if _, err := e.settled(ctx); err != nil {
		return err
	}
	s, err := e.load(ctx, traffic.Load{Flows: 200, Frames: 4000, Rate: 2000})
	if err != nil {
		return err
	}
	if err := s.throughWorkers(); err != nil {
		return err
	}
	for _, w := range s.after.Workers {
		for _, o := range s.before.Workers {
			if o.ID == w.ID && o.Forwarded == w.Forwarded {
				return fmt.Errorf("worker %d forwarded nothing of a load of 200 flows", w.ID)
			}
		}
	}
	return nil
}

func forwardBack(ctx context.Context, e *env) error {
	if _, err := e.settled(ctx); err != nil {
		return err
	}
	s, err := e.loadBetween(ctx, gateway.End(e.server), gateway.End(e.client), traffic.Load{Flows: 200, Frames: 2000, Rate: 2000})
	if err != nil {
		return err
	}
	return s.throughWorkers()
}
