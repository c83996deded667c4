package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// mtu PORT BYTES.
func mtu(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%q: want a port and bytes", args)
	}
	l, err := netlink.LinkByName(args[0])
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	return netlink.LinkSetMTU(l, n)
}

// neighFlush makes the kernel forget every neighbour of the named port.
func neighFlush(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%q: want a port", args)
	}
	l, err := netlink.LinkByName(args[0])
	if err != nil {
		return err
	}
	var errs []error
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		ns, err := netlink.NeighList(l.Attrs().Index, family)
		errs = append(errs, err)
		for _, n := range ns {
			if n.State&(netlink.NUD_PERMANENT|netlink.NUD_NOARP) != 0 {
				continue
			}
			if err := netlink.NeighDel(&n); err != nil && !errors.Is(err, unix.ENOENT) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
