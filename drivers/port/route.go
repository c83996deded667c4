package port

import (
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// routes makes Weir's routes those declared.
func (r *round) routes() error {
	have, err := r.k.Routes()
	if err != nil {
		return fmt.Errorf("listing the routes: %w", err)
	}
	had := map[netip.Prefix]bool{}
	present := map[KernelRoute]bool{}
	for _, h := range have {
		present[h] = true
	}
	wanted := map[netip.Prefix]KernelRoute{}
	owner := map[netip.Prefix]*work{}
	var order []netip.Prefix
	for _, rt := range r.spec.Routes {
		w := r.outPort(rt)
		if w == nil {
			r.errs = append(r.errs, fmt.Errorf("route to %s: %s is in no port's network: correct it, or name the route's port", rt.To, rt.Via))
			continue
		}
		if !w.found() {
			w.fail("the route to %s waits for it", rt.To)
			continue
		}
		k := KernelRoute{To: rt.To, Via: rt.Via, Index: w.link.Index}
		k.OnLink = rt.Via.IsValid() && !rt.Via.IsLinkLocalUnicast() && !w.reaches(rt.Via)
		wanted[rt.To], owner[rt.To] = k, w
		order = append(order, rt.To)
	}
	for _, h := range have {
		if k, ok := wanted[h.To]; ok && (h == k || !present[k] && !had[h.To]) {
			had[h.To] = true // in place, or to be replaced
			continue
		}
		if err := r.k.DelRoute(h); err != nil && !errors.Is(err, unix.ESRCH) {
			r.errs = append(r.errs, fmt.Errorf("cannot remove the route to %s: %w", h.To, err))
			continue
		}
		r.res.Changes = append(r.res.Changes, "route removed: "+r.describe(h))
	}
	for _, to := range order {
		k, w := wanted[to], owner[to]
		if present[k] {
			continue
		}
		if err := r.k.AddRoute(k, had[to]); err != nil {
			w.fail("cannot route to %s: %w", to, routeError(k, err))
			continue
		}
		r.res.Changes = append(r.res.Changes, "route added: "+r.describe(k))
	}
	return nil
}

// outPort is the port a route leaves by: the one it names, or the one with the
// longest network that its next router is in.
func (r *round) outPort(rt Route) *work {
	var best *work
	bits := -1
	for _, w := range r.ports {
		if rt.Port != "" {
			if w.Label == rt.Port {
				return w
			}
			continue
		}
		for _, a := range w.Address {
			if a.Contains(rt.Via) && a.Bits() > bits {
				best, bits = w, a.Bits()
			}
		}
	}
	return best
}

// reaches says whether a is in a network of the port.
func (w *work) reaches(a netip.Addr) bool {
	for _, p := range w.Address {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

func (r *round) describe(k KernelRoute) string {
	s := k.To.String()
	if k.Via.IsValid() {
		s += " via " + k.Via.String()
	}
	for _, w := range r.ports {
		if w.found() && w.link.Index == k.Index {
			return s + " on " + w.Label
		}
	}
	return fmt.Sprintf("%s on interface %d", s, k.Index)
}

func routeError(k KernelRoute, err error) error {
	switch {
	case errors.Is(err, unix.EEXIST):
		return fmt.Errorf("%w: there is already a route to it that is not from this configuration, remove one of the two", err)
	case errors.Is(err, unix.ENETUNREACH), errors.Is(err, unix.EHOSTUNREACH), errors.Is(err, unix.EINVAL):
		return fmt.Errorf("%w: the kernel cannot reach %s by this port, check its addresses", err, k.Via)
	case errors.Is(err, unix.ENETDOWN):
		return fmt.Errorf("%w: the port is off", err)
	}
	return err
}
