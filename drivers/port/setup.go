package port

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Setup brings ports up, and remembers what they were called before.
type Setup struct {
	k      Kernel
	kernel map[int]string // first name seen of each interface index
}

// New returns a Setup on k.
func New(k Kernel) *Setup {
	return &Setup{k: k, kernel: map[int]string{}}
}

// round is one Apply.
type round struct {
	*Setup
	spec  Spec
	ports []*work
	res   Result
	errs  []error // that belong to no port
	// again says whether addresses that failed duplicate detection are tried anew.
	again bool
}

// work is a port during an Apply.
type work struct {
	Port
	link  Link // Index is 0 while it is not found
	place Place
	errs  []error
}

func (w *work) found() bool { return w.link.Index != 0 }

func (w *work) fail(format string, args ...any) {
	w.errs = append(w.errs, fmt.Errorf(format, args...))
}

func (r *round) changed(w *work, format string, args ...any) {
	r.res.Changes = append(r.res.Changes, w.Label+": "+fmt.Sprintf(format, args...))
}

// Apply makes the ports as spec says. It does not wait for a carrier. The
// Result is valid also with an error, which joins all that failed; each
// failure of a port is in its State too.
func (s *Setup) Apply(ctx context.Context, spec Spec) (Result, error) {
	return s.apply(ctx, spec, true)
}

func (s *Setup) apply(ctx context.Context, spec Spec, again bool) (Result, error) {
	r := &round{Setup: s, spec: spec, again: again}
	for _, p := range spec.Ports {
		r.ports = append(r.ports, &work{Port: p})
	}
	for _, step := range []func(*round) error{
		(*round).find,
		(*round).gone, // while they still have their names
		(*round).rename,
		(*round).mtu,
		(*round).forwarding, // before up, so that a router never acts on router advertisements
		(*round).up,
		(*round).addresses,
		(*round).routes,
	} {
		if err := ctx.Err(); err != nil {
			r.errs = append(r.errs, fmt.Errorf("ports are only partly set up: %w", err))
			break
		}
		if err := step(r); err != nil {
			r.errs = append(r.errs, err)
		}
	}
	return r.result()
}

// result reads the outcome back from the kernel.
func (r *round) result() (Result, error) {
	links, err := r.k.Links()
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("reading the links back: %w", err))
	}
	addrs, err := r.k.Addresses()
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("reading the addresses back: %w", err))
	}
	for _, w := range r.ports {
		s := State{Label: w.Label, Driver: w.place.Driver, MTU: w.link.MTU, MAC: w.link.MAC}
		for _, l := range links {
			if w.found() && l.Index == w.link.Index {
				s.MTU, s.MAC, s.Carrier, s.Kernel = l.MTU, l.MAC, l.Carrier(), r.kernel[l.Index]
			}
		}
		for _, a := range addrs {
			if !w.found() || a.Index != w.link.Index {
				continue
			}
			s.Address = append(s.Address, a.Prefix.String())
			if a.DADFailed && slices.Contains(w.Address, a.Prefix) {
				w.fail("%s is in use by another machine on that cable: give one of the two another address", a.Prefix.Addr())
			}
			r.res.tentative = r.res.tentative || a.Tentative && !a.DADFailed && s.Carrier
		}
		for _, err := range w.errs {
			s.Errors = append(s.Errors, err.Error())
			r.errs = append(r.errs, fmt.Errorf("port %s: %w", w.Label, err))
		}
		r.res.Ports = append(r.res.Ports, s)
	}
	return r.res, errors.Join(r.errs...)
}
