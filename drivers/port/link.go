package port

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"
)

// mtu sets the MTUs. A driver's refusal leaves the old one in force.
func (r *round) mtu() error {
	for _, w := range r.ports {
		if !w.found() || w.MTU == 0 || w.MTU == w.link.MTU {
			continue
		}
		if w.link.MaxMTU > 0 && w.MTU > w.link.MaxMTU {
			w.fail("mtu %d is more than its driver (%s) can do: use at most %d; it stays at %d",
				w.MTU, w.driver(), w.link.MaxMTU, w.link.MTU)
			continue
		}
		if err := r.k.SetMTU(w.link.Index, w.MTU); err != nil {
			remedy := "use a smaller one"
			if w.link.XDP {
				// mvpp2 and mvneta take no jumbo frames while a program is attached, and
				// virtio_net none that do not fit a page.
				remedy = `use a smaller one, or tier = "kernel", since an XDP program is attached`
			}
			w.fail("its driver (%s) refuses mtu %d (%w): %s; it stays at %d", w.driver(), w.MTU, err, remedy, w.link.MTU)
			continue
		}
		r.changed(w, "mtu is now %d, was %d", w.MTU, w.link.MTU)
		w.link.MTU = w.MTU
	}
	return nil
}

func (w *work) driver() string {
	if w.place.Driver == "" {
		return "unknown"
	}
	return w.place.Driver
}

// up switches the ports on.
func (r *round) up() error {
	for _, w := range r.ports {
		if !w.found() || w.link.Up {
			continue
		}
		if err := r.k.SetUp(w.link.Index, true); err != nil {
			w.fail("cannot be switched on (%w): look for its driver (%s) in dmesg", err, w.driver())
			continue
		}
		w.link.Up = true
		r.changed(w, "switched on")
	}
	return nil
}

// gone takes former ports out of service.
func (r *round) gone() error {
	if len(r.spec.Gone) == 0 {
		return nil
	}
	links, err := r.k.Links()
	if err != nil {
		return fmt.Errorf("listing the links: %w", err)
	}
	var errs []error
	for _, l := range links {
		isPort := slices.ContainsFunc(r.ports, func(w *work) bool { return w.link.Index == l.Index })
		if isPort || !slices.Contains(r.spec.Gone, l.Name) {
			continue
		}
		for _, family := range []string{"ipv4", "ipv6"} {
			_, err := r.sysctl(family+"/conf/"+l.Name+"/forwarding", false)
			errs = append(errs, err)
		}
		if !l.Up {
			continue
		}
		if err := r.k.SetUp(l.Index, false); err != nil {
			errs = append(errs, fmt.Errorf("switching %s off, which is no port any more: %w", l.Name, err))
			continue
		}
		r.res.Changes = append(r.res.Changes, l.Name+": switched off, since it is no port any more")
	}
	return errors.Join(errs...)
}

// forwarding switches forwarding per port, and the global switches to whether
// any port forwards.
//
// IPv4 asks the in port's own setting and nothing else (IN_DEV_FORWARD in
// net/ipv4/route.c); the global one is for whoever looks. IPv6 asks the global
// one alone (ip6_forward in net/ipv6/ip6_output.c), and the port's only says
// whether it behaves as a router's or as a host's; so where some ports forward
// and others do not, a rule of Weir's drops what comes in by the latter and is
// not for this machine (the rule for local addresses comes before it).
func (r *round) forwarding() error {
	some := false
	for _, w := range r.ports {
		some = some || w.Forward
	}
	// What is to be kept in comes before what lets out.
	stale, errBlocks := r.block(some)
	// Before the ports, because it sets them all alike.
	errs := []error{errBlocks}
	for _, family := range []string{"ipv4", "ipv6"} {
		changed, err := r.sysctl(family+"/conf/all/forwarding", some)
		errs = append(errs, err)
		if changed {
			r.res.Changes = append(r.res.Changes, fmt.Sprintf("%s forwarding as a whole is now %s", family, onOff(some)))
		}
	}
	for _, w := range r.ports {
		if !w.found() {
			continue
		}
		for _, family := range []string{"ipv4", "ipv6"} {
			changed, err := r.sysctl(family+"/conf/"+w.link.Name+"/forwarding", w.Forward)
			if err != nil {
				w.fail("cannot switch forwarding: %w", err)
			} else if changed {
				r.changed(w, "%s forwarding is now %s", family, onOff(w.Forward))
			}
		}
		r.redirects(w)
	}
	for _, name := range stale {
		if err := r.k.Unblock(name); err != nil {
			errs = append(errs, fmt.Errorf("removing the IPv6 rule of %s: %w", name, err))
			continue
		}
		r.res.Changes = append(r.res.Changes, name+": the rule that dropped its IPv6 packets is gone")
	}
	return errors.Join(errs...)
}

// redirects makes a port that forwards IPv4 deaf to ICMP redirects. A router has
// to ignore them (RFC 1812, 5.2.7.2), Linux does so for IPv6 by itself, and for
// IPv4 it lets them change routes behind everybody's back unless told otherwise:
// the forwarder leaves such a port to the kernel.
func (r *round) redirects(w *work) {
	if !w.Forward {
		return
	}
	changed, err := r.sysctl("ipv4/conf/"+w.link.Name+"/accept_redirects", false)
	if err != nil {
		w.fail("cannot switch ICMP redirects off: %w", err)
	} else if changed {
		r.changed(w, "ipv4 redirects are now ignored")
	}
}

// block adds the rules that are missing, and returns those that are too many.
func (r *round) block(some bool) (stale []string, err error) {
	blocks, err := r.k.Blocks()
	if err != nil {
		blocks = nil
		if errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EOPNOTSUPP) {
			err = nil // no IPv6, or none with rules: adding one tells
		} else {
			err = fmt.Errorf("listing the rules: %w", err)
		}
	}
	wanted := map[string]bool{}
	for _, w := range r.ports {
		if !some || w.Forward || !w.found() {
			continue
		}
		wanted[w.link.Name] = true
		if slices.Contains(blocks, w.link.Name) {
			continue
		}
		// No IPv6 at all: nothing to keep from being forwarded.
		if _, err := r.k.Sysctl("ipv6/conf/all/forwarding"); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := r.k.Block(w.link.Name); errors.Is(err, unix.EEXIST) {
			continue
		} else if err != nil {
			w.fail("cannot keep the kernel from forwarding its IPv6 packets: %w", err)
			continue
		}
		r.changed(w, "a rule drops its IPv6 packets that are not for this machine")
	}
	for _, name := range blocks {
		if !wanted[name] {
			stale = append(stale, name)
		}
	}
	return stale, err
}

// sysctl sets a switch if it differs. A kernel without the protocol has nothing
// to switch.
func (r *round) sysctl(name string, on bool) (changed bool, err error) {
	want := "0"
	if on {
		want = "1"
	}
	have, err := r.k.Sysctl(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || have == want {
		return false, err
	}
	return true, r.k.SetSysctl(name, want)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
