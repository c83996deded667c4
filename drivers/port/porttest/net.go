package porttest

import (
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"

	"weir/drivers/port"
)

// Addresses implements port.Kernel.
func (k *Kernel) Addresses() ([]port.Address, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.addrs), k.fail("Addresses", "")
}

// AddAddress implements port.Kernel. In IPv6 an address can be on a link once,
// whatever its length.
func (k *Kernel) AddAddress(index int, p netip.Prefix) error {
	_, err := k.begin("AddAddress", index, p.String())
	defer k.mu.Unlock()
	if err != nil {
		return err
	}
	if p.Addr().Is6() && k.NoIPv6 {
		return unix.EOPNOTSUPP
	}
	for _, a := range k.addrs {
		if a.Index == index && (a.Prefix == p || p.Addr().Is6() && a.Prefix.Addr() == p.Addr()) {
			return unix.EEXIST
		}
	}
	k.addrs = append(k.addrs, port.Address{Index: index, Prefix: p, Permanent: true, Ours: true})
	return nil
}

// DelAddress implements port.Kernel. The first IPv4 address of a network takes
// the later ones with it (__inet_del_ifa without promote_secondaries), and the
// routes by routers in it.
func (k *Kernel) DelAddress(index int, p netip.Prefix) error {
	_, err := k.begin("DelAddress", index, p.String())
	defer k.mu.Unlock()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(k.addrs, func(a port.Address) bool { return a.Index == index && a.Prefix == p })
	if at < 0 {
		return unix.EADDRNOTAVAIL
	}
	same := func(a port.Address) bool {
		return a.Index == index && a.Prefix.Addr().Is4() && a.Prefix.Masked() == p.Masked()
	}
	first := slices.IndexFunc(k.addrs, same) == at
	k.addrs = slices.Delete(k.addrs, at, at+1)
	if first {
		k.addrs = slices.DeleteFunc(k.addrs, same)
		k.routes = slices.DeleteFunc(k.routes, func(r port.KernelRoute) bool {
			return r.Index == index && !r.OnLink && r.Via.IsValid() && p.Contains(r.Via)
		})
	}
	return nil
}

// Routes implements port.Kernel.
func (k *Kernel) Routes() ([]port.KernelRoute, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.routes), k.fail("Routes", "")
}

// AddRoute implements port.Kernel.
func (k *Kernel) AddRoute(r port.KernelRoute, replace bool) error {
	l, err := k.begin("AddRoute", r.Index, r.To.String())
	defer k.mu.Unlock()
	if err != nil {
		return err
	}
	if !l.Up {
		return unix.ENETDOWN
	}
	if r.Via.IsValid() && !r.OnLink && !r.Via.IsLinkLocalUnicast() &&
		!slices.ContainsFunc(k.addrs, func(a port.Address) bool { return a.Index == r.Index && a.Prefix.Contains(r.Via) }) {
		return unix.ENETUNREACH
	}
	same := func(o port.KernelRoute) bool { return o.To == r.To }
	if replace {
		k.routes = slices.DeleteFunc(k.routes, same)
	} else if slices.ContainsFunc(k.routes, same) || slices.ContainsFunc(k.foreign, same) {
		return unix.EEXIST
	}
	k.routes = append(k.routes, r)
	return nil
}

// DelRoute implements port.Kernel.
func (k *Kernel) DelRoute(r port.KernelRoute) error {
	_, err := k.begin("DelRoute", r.Index, r.To.String())
	defer k.mu.Unlock()
	if err != nil {
		return err
	}
	at := slices.Index(k.routes, r)
	if at < 0 {
		return unix.ESRCH
	}
	k.routes = slices.Delete(k.routes, at, at+1)
	return nil
}

// Blocks implements port.Kernel.
func (k *Kernel) Blocks() ([]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.NoIPv6 {
		return nil, unix.EAFNOSUPPORT
	}
	return slices.Clone(k.blocks), k.fail("Blocks", "")
}

// Block implements port.Kernel.
func (k *Kernel) Block(name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.log = append(k.log, "Block "+name)
	if err := k.fail("Block", name); err != nil {
		return err
	}
	k.blocks = append(k.blocks, name)
	return nil
}

// Unblock implements port.Kernel.
func (k *Kernel) Unblock(name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.log = append(k.log, "Unblock "+name)
	if err := k.fail("Unblock", name); err != nil {
		return err
	}
	k.blocks = slices.DeleteFunc(k.blocks, func(n string) bool { return n == name })
	return nil
}
