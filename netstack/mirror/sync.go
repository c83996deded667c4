package mirror

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/nl"
	"weir/netstack/mirror/rtnl"
)

var families = [2]int{unix.AF_INET, unix.AF_INET6}

// resync reads interfaces, addresses, neighbours and routes anew, and leaves in
// the mirror what the kernel has now.
func (m *Mirror) resync() error {
	m.count(func(s *Stats) { s.Resyncs++ })
	if err := errors.Join(m.syncLinks(), m.syncAddresses(), m.syncNeighbours()); err != nil {
		return err
	}
	for _, f := range families {
		if err := m.syncRoutes(f); err != nil {
			return err
		}
	}
	return nil
}

func (m *Mirror) syncLinks() error {
	err := m.queries.Dump(unix.RTM_GETLINK, make([]byte, unix.SizeofIfInfomsg), func() { clear(m.links) }, func(msg nl.Message) error {
		if l, ok := rtnl.ParseLink(msg.Data); ok {
			l.Conf4, l.Conf6 = nil, nil
			m.links[l.Index] = l
		}
		return nil
	})
	m.portsDirty = true
	return wrap("interfaces", err)
}

func (m *Mirror) syncAddresses() error {
	err := m.queries.Dump(unix.RTM_GETADDR, make([]byte, unix.SizeofIfAddrmsg), func() { clear(m.addrs) }, func(msg nl.Message) error {
		if a, ok := rtnl.ParseAddress(msg.Data); ok {
			m.addrs[a] = struct{}{}
		}
		return nil
	})
	m.localDirty = true
	return wrap("addresses", err)
}

func (m *Mirror) syncNeighbours() error {
	err := m.queries.Dump(unix.RTM_GETNEIGH, make([]byte, unix.SizeofNdMsg), m.rib.BeginNeighbours, func(msg nl.Message) error {
		if n, ok := rtnl.ParseNeighbour(msg.Data); ok {
			m.rib.Neighbour(n)
		}
		return nil
	})
	if err == nil {
		m.rib.EndNeighbours()
	}
	return wrap("neighbours", err)
}

// syncRoutes reads a family's routes anew. Events that were queued meanwhile are
// applied after it; the RIB makes nothing of those that the dump has shown.
func (m *Mirror) syncRoutes(family int) error {
	start := time.Now()
	m.barrier()
	req := make([]byte, unix.SizeofRtMsg)
	req[0] = byte(family)
	if family == unix.AF_INET6 {
		m.expireAt = time.Time{}
	}
	err := m.queries.Dump(unix.RTM_GETROUTE, req, func() { m.rib.BeginRoutes(family) }, func(msg nl.Message) error {
		if rt, ok := m.parseRoute(msg.Data); ok {
			m.rib.DumpedRoute(rt)
		}
		return nil
	})
	if err == nil {
		m.rib.EndRoutes(family)
	}
	i := 0
	if family == unix.AF_INET6 {
		i = 1
	}
	m.routesDirty[i] = errors.Is(err, nl.ErrInterrupted)
	took := time.Since(start)
	m.syncAfter = time.Now().Add(syncPause * took)
	m.count(func(s *Stats) { s.RouteDumps++; s.LastDump = took })
	if errors.Is(err, nl.ErrInterrupted) {
		return nil // once more after a pause; what is not sure is the kernel's
	}
	return wrap("routes", err)
}

// barrier waits for whoever holds the kernel's RTNL lock: an interface's event is
// sent before its routes are flushed, both under that lock, while a dump of routes
// does without it.
func (m *Mirror) barrier() {
	req := make([]byte, unix.SizeofIfInfomsg)
	req[4] = 1 // lo; whether it is there does not matter
	_ = m.queries.Get(unix.RTM_GETLINK, req, func(nl.Message) error { return nil })
}

func wrap(what string, err error) error {
	if err != nil {
		return fmt.Errorf("read the kernel's %s: %w", what, err)
	}
	return nil
}
