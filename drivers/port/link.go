package port

import (
	"errors"
	"fmt"
	"io/fs"

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

// forwarding switches forwarding per port.
//
// IPv4 asks the in port's own setting and nothing else (IN_DEV_FORWARD in
// net/ipv4/route.c). IPv6 asks net.ipv6.conf.all.forwarding alone (ip6_forward
// in net/ipv6/ip6_output.c), and the port's setting only says whether it
// behaves as a router's or as a host's; so where some ports forward and others
// do not, a rule of Weir's drops what comes in by the latter and is not for
// this machine (the rule for local addresses comes before it).
func (r *round) forwarding() error {
	any := false
	for _, w := range r.ports {
		any = any || w.Forward
	}
	blocks, err := r.k.Blocks()
	if err != nil && !errors.Is(err, unix.EAFNOSUPPORT) && !errors.Is(err, unix.EOPNOTSUPP) {
		return fmt.Errorf("listing the rules: %w", err)
	}
	blocked := map[string]bool{}
	for _, name := range blocks {
		blocked[name] = true
	}
	// First, because it sets all ports alike.
	changed, err := r.sysctl("ipv6/conf/all/forwarding", any)
	if changed {
		r.res.Changes = append(r.res.Changes, "IPv6 forwarding as a whole is now "+onOff(any))
	}
	errs := []error{err}
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
		if block := any && !w.Forward; block && !blocked[w.link.Name] {
			if err := r.k.Block(w.link.Name); err != nil {
				w.fail("cannot keep the kernel from forwarding its IPv6 packets: %w", err)
			} else {
				r.changed(w, "a rule drops its IPv6 packets that are not for this machine")
			}
		} else if block {
			delete(blocked, w.link.Name)
		}
	}
	for _, name := range blocks {
		if !blocked[name] {
			continue
		}
		delete(blocked, name)
		if err := r.k.Unblock(name); err != nil {
			errs = append(errs, fmt.Errorf("removing the IPv6 rule of %s: %w", name, err))
			continue
		}
		r.res.Changes = append(r.res.Changes, name+": the rule that dropped its IPv6 packets is gone")
	}
	return errors.Join(errs...)
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
