package xdp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// Mode is how a program is attached.
type Mode string

const (
	Detached Mode = ""
	// Native runs in the driver, before the kernel has made a packet of the frame.
	Native Mode = "native"
	// Generic runs on the kernel's packets: any driver, at the price of a copy.
	Generic Mode = "generic"
)

// ErrNoNative: the port's driver has no native XDP, or not with its present
// settings.
var ErrNoNative = errors.New("no native XDP")

// ErrForeign: somebody else's program is on the port.
var ErrForeign = errors.New("another XDP program is attached")

type attachment struct {
	link     link.Link
	mode     Mode
	tookOver bool
	pin      string
}

// Mode tells how the program is attached.
func (a *attachment) Mode() Mode { return a.mode }

// TookOver tells whether the program replaced that of an earlier forwarder.
func (a *attachment) TookOver() bool { return a.tookOver }

// pinName is a port's pin: by interface index, since names change.
func pinName(ifindex int) string { return "port-" + strconv.Itoa(ifindex) }

// Attach puts the program on its port. A link that an earlier forwarder left in
// dir (on a bpffs) is taken over, which does not disturb the port; otherwise a
// new one is made in the first of modes that works, and pinned. It fails with
// ErrForeign, or ErrNoNative where only Native was asked for.
func (g *Program) Attach(dir string, modes ...Mode) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("port %s: %w: is bpffs mounted?", g.name, err)
	}
	g.pin = filepath.Join(dir, pinName(g.ifindex))
	if ok, err := g.takeOver(); ok || err != nil {
		return err
	}
	var errs []error
	for _, m := range modes {
		flags := link.XDPDriverMode
		if m == Generic {
			flags = link.XDPGenericMode
		}
		l, err := link.AttachXDP(link.XDPOptions{Program: g.prog, Interface: g.ifindex, Flags: flags})
		if err == nil {
			if err := l.Pin(g.pin); err != nil {
				l.Close()
				return fmt.Errorf("port %s: pin the XDP link: %w: is bpffs mounted on %s?", g.name, err, dir)
			}
			g.link, g.mode = l, m
			return nil
		}
		if err = g.explainAttach(m, err); errors.Is(err, ErrForeign) {
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// takeOver replaces the program behind a pinned link, if there is a live one.
func (g *Program) takeOver() (bool, error) {
	l, err := link.LoadPinnedLink(g.pin, nil)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("port %s: open the pinned XDP link %s: %w: remove it with rm", g.name, g.pin, err)
	}
	mode, err := linkMode(l, g.ifindex)
	if err == nil {
		// Known before the program runs: in generic mode it has to mind punts.
		g.mode = mode
		if err = l.Update(g.prog); err == nil {
			g.link, g.tookOver = l, true
			return true, nil
		}
	}
	// The link is dead (its device went away): begin anew.
	g.mode = Detached
	unpin := l.Unpin()
	return false, errors.Join(unpin, l.Close())
}

// linkMode tells how a live link on ifindex is attached.
func linkMode(l link.Link, ifindex int) (Mode, error) {
	info, err := l.Info()
	if err != nil {
		return Detached, err
	}
	x := info.XDP()
	if x == nil || int(x.Ifindex) != ifindex {
		return Detached, fmt.Errorf("link %d is not on interface %d", info.ID, ifindex)
	}
	return deviceMode(ifindex)
}

// explainAttach gives an attach error its name and remedy.
func (g *Program) explainAttach(m Mode, err error) error {
	switch {
	case errors.Is(err, unix.EBUSY), errors.Is(err, unix.EEXIST):
		id, _ := deviceProgram(g.ifindex)
		return fmt.Errorf("port %s: %w (id %d): remove it with `ip link set dev %s xdp off`, or detach its bpf_link: %w",
			g.name, ErrForeign, id, g.name, err)
	case m == Native && (errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ERANGE)):
		return fmt.Errorf("port %s: %w (driver or its settings, for example a jumbo MTU): %w", g.name, ErrNoNative, err)
	}
	return fmt.Errorf("port %s: attach the XDP program in %s mode: %w", g.name, m, explain(err))
}

// Detach takes the program off the port: for an orderly stop only, since some
// drivers stop and start the port.
func (g *Program) Detach() error {
	if g.link == nil {
		return nil
	}
	err := errors.Join(g.link.Unpin(), g.link.Close())
	g.link, g.mode = nil, Detached
	return err
}

func (g *Program) closeLink() error {
	if g.link == nil {
		return nil
	}
	return g.link.Close()
}

// Sweep detaches what an earlier forwarder left in dir on interfaces other than
// keep, and returns their indices.
func Sweep(dir string, keep func(ifindex int) bool) ([]int, error) {
	names, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	var swept []int
	var errs []error
	for _, n := range names {
		i, err := strconv.Atoi(strings.TrimPrefix(n.Name(), "port-"))
		if err != nil || keep(i) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, n.Name())); err != nil {
			errs = append(errs, fmt.Errorf("remove the pinned XDP link of interface %d: %w", i, err))
			continue
		}
		swept = append(swept, i)
	}
	return swept, errors.Join(errs...)
}
