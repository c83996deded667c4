package port

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// addresses makes each port's addresses those declared. The undeclared go
// first: in IPv6 an address cannot be there twice with two lengths, and in
// IPv4 the first address of a network takes the others with it.
func (r *round) addresses() error {
	have, err := r.k.Addresses()
	if err != nil {
		return fmt.Errorf("listing the addresses: %w", err)
	}
	ports := map[int]*work{}
	for _, w := range r.ports {
		if w.found() {
			ports[w.link.Index] = w
		}
	}
	removed := false
	for _, a := range have {
		w := ports[a.Index]
		if !r.superfluous(w, a) {
			continue
		}
		removed = true
		err := r.k.DelAddress(a.Index, a.Prefix)
		switch {
		case errors.Is(err, unix.EADDRNOTAVAIL): // went with another
		case err != nil && w != nil:
			w.fail("cannot remove the address %s: %w", a.Prefix, err)
			continue
		case err != nil:
			r.errs = append(r.errs, fmt.Errorf("cannot remove the address %s: %w", a.Prefix, err))
			continue
		}
		switch {
		case w == nil:
			r.res.Changes = append(r.res.Changes, fmt.Sprintf("the address %s of a port that is gone is removed", a.Prefix))
		case slices.Contains(w.Address, a.Prefix):
			r.changed(w, "trying the address %s again, which another machine had", a.Prefix)
		default:
			r.changed(w, "address %s removed", a.Prefix)
		}
	}
	if removed {
		if have, err = r.k.Addresses(); err != nil {
			return fmt.Errorf("listing the addresses: %w", err)
		}
	}
	for _, w := range r.ports {
		if !w.found() {
			continue
		}
		for _, p := range w.Address {
			if slices.ContainsFunc(have, func(a Address) bool { return a.Index == w.link.Index && a.Prefix == p && a.Permanent }) {
				continue
			}
			if err := r.k.AddAddress(w.link.Index, p); err != nil {
				w.fail("cannot have the address %s: %w", p, addressError(p, err))
				continue
			}
			r.changed(w, "address %s added", p)
		}
	}
	return nil
}

// superfluous says whether an address has to go: on a port what is permanent
// and not declared, elsewhere what Weir once added.
func (r *round) superfluous(w *work, a Address) bool {
	if w == nil {
		return a.Ours
	}
	if slices.Contains(w.Address, a.Prefix) {
		// Duplicate detection that failed is not repeated by the kernel.
		return a.DADFailed && r.again
	}
	if !a.Permanent {
		return false
	}
	return a.Ours || !(a.Prefix.Addr().Is6() && a.Prefix.Addr().IsLinkLocalUnicast())
}

func addressError(p netip.Prefix, err error) error {
	if p.Addr().Is6() && (errors.Is(err, unix.EACCES) || errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EOPNOTSUPP)) {
		return fmt.Errorf("%w: IPv6 is switched off in this kernel (see net.ipv6.conf.*.disable_ipv6), or the MTU is below 1280", err)
	}
	return err
}
