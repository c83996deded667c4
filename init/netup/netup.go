package netup

import (
	"context"
	"errors"
	"slices"
	"sync"

	"weir/drivers/port"
	"weir/init/config"
	"weir/init/report"
)

// Result is the outcome of bringing the ports up.
type Result struct {
	// Ports has an entry for each port of the configuration, in its order, found
	// or not; what failed on a port is in its Errors.
	Ports []report.Port
	// Changes says in words what was changed, empty if everything was as declared.
	Changes []string
}

// Apply brings the ports of cfg up: names, MTU, admin state, addresses,
// routes, forwarding. It does not wait for a carrier. What fails on one port
// stops neither the others nor the routes; the error joins what failed, and the
// Result is valid with it. A second Apply of the same cfg has no Changes.
func Apply(ctx context.Context, cfg *config.Config) (Result, error) {
	return here.apply(ctx, cfg)
}

// Watch applies what is in force (cfg, until another Apply), and again whenever
// a link comes, goes, or gets or loses its carrier, until ctx ends: a port that
// appears late, or under a new index, is brought up like the others. It calls
// on, in the caller's goroutine, after the first round and after each that
// brought something new. It returns ctx.Err(), or why it could not listen.
func Watch(ctx context.Context, cfg *config.Config, on func(Result, error)) error {
	return here.watch(ctx, cfg, on)
}

// here is this process's way to the ports; its Setup remembers what they were
// called before they got their labels.
var here = &joint{setup: port.New(port.Linux{}), place: place{InForce}}

type joint struct {
	place
	mu    sync.Mutex // a Setup is for one caller at a time
	setup *port.Setup
}

func (j *joint) apply(ctx context.Context, cfg *config.Config) (Result, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer j.lock()()
	spec := Spec(cfg)
	before := j.get(cfg)
	spec.Gone = gone(before, cfg)
	usualMTU(&spec, before)
	// Noted first: the changes make events, on which a Watch looks again.
	noted := j.put(cfg)
	r, err := j.setup.Apply(ctx, spec)
	return result(r), errors.Join(err, noted)
}

func (j *joint) watch(ctx context.Context, cfg *config.Config, on func(Result, error)) error {
	begin := func() (port.Spec, func()) {
		j.mu.Lock()
		unlock := j.lock()
		return Spec(j.get(cfg)), func() { unlock(); j.mu.Unlock() }
	}
	return j.setup.Watch(ctx, begin, func(r port.Result, err error) { on(result(r), err) })
}

// Spec is the part of cfg that drivers/port applies.
func Spec(cfg *config.Config) port.Spec {
	var s port.Spec
	for _, p := range cfg.Ports {
		s.Ports = append(s.Ports, port.Port{
			Label:   p.Label,
			Match:   port.Match{MAC: p.Match.MAC, DT: p.Match.DT, PCI: p.Match.PCI},
			MTU:     p.MTU,
			Address: p.Address,
			Forward: p.Forward == nil || *p.Forward,
		})
	}
	for _, r := range cfg.Routes {
		s.Routes = append(s.Routes, port.Route{To: r.To, Via: r.Via, Port: r.Port})
	}
	return s
}

// gone are the labels of before that now are no port's.
func gone(before, now *config.Config) (labels []string) {
	for _, p := range before.Ports {
		if !slices.ContainsFunc(now.Ports, func(q config.Port) bool { return q.Label == p.Label }) {
			labels = append(labels, p.Label)
		}
	}
	return labels
}

// usualMTU gives ports whose MTU was declared before, and is no more, that of
// Ethernet: what their driver would have them with at the next boot.
func usualMTU(s *port.Spec, before *config.Config) {
	for i := range s.Ports {
		p := &s.Ports[i]
		if p.MTU == 0 && slices.ContainsFunc(before.Ports, func(q config.Port) bool { return q.Match == config.Match(p.Match) && q.MTU != 0 }) {
			p.MTU = 1500
		}
	}
}

func result(r port.Result) Result {
	out := Result{Ports: make([]report.Port, 0, len(r.Ports)), Changes: r.Changes}
	for _, p := range r.Ports {
		out.Ports = append(out.Ports, report.Port{
			Label: p.Label, Kernel: p.Kernel, Driver: p.Driver, MAC: p.MAC, MTU: p.MTU,
			Address: p.Address, Carrier: p.Carrier, Errors: p.Errors,
		})
	}
	return out
}
