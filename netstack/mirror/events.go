package mirror

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/nl"
	"weir/netstack/mirror/rib"
	"weir/netstack/mirror/rtnl"
)

// Events travel in slabs: what one wake-up of the socket held, one datagram
// after the other. Two slabs are being filled and applied, the others are slack.
const (
	slabCount = 4
	slabSize  = 2 * nl.BufferSize
	// slabMessages bounds what one slab gathers, so that under load the first of
	// them does not wait for long (some 3 ms at 5 µs each).
	slabMessages = 512
)

type slab struct {
	b   []byte
	err error // nl.ErrOverrun: events were lost here; others: the end
}

// readEvents moves events from the socket to the loop, in order.
func (m *Mirror) readEvents() {
	defer m.children.Done()
	for {
		var s slab
		select {
		case s.b = <-m.free:
		case <-m.done:
			return
		}
		n, err := m.fill(s.b)
		if errors.Is(err, nl.ErrOverrun) {
			if derr := m.events.Discard(); derr != nil {
				err = derr
			}
		}
		s.b, s.err = s.b[:n], err
		select {
		case m.slabs <- s:
		case <-m.done:
			return
		}
		if err != nil && !errors.Is(err, nl.ErrOverrun) {
			return
		}
	}
}

// fill waits for a datagram and takes what else is there.
func (m *Mirror) fill(b []byte) (n int, err error) {
	n, err = m.events.Receive(b)
	n = align4(n)
	more := true
	for i := 1; err == nil && i < slabMessages && n+nl.BufferSize <= len(b); i++ {
		var k int
		if k, more, err = m.events.TryReceive(b[n:]); !more {
			break
		}
		n += align4(k)
	}
	return n, err
}

func align4(n int) int { return (n + 3) &^ 3 }

// apply takes a slab of events in.
func (m *Mirror) apply(b []byte) {
	for msg, rest, ok := nl.Split(b); ok; msg, rest, ok = nl.Split(rest) {
		m.count(func(s *Stats) { s.Events++ })
		switch msg.Type {
		case unix.RTM_NEWROUTE, unix.RTM_DELROUTE:
			if rt, ok := m.parseRoute(msg.Data); ok {
				m.rib.Route(routeEvent(msg), rt)
			}
		case unix.RTM_NEWNEIGH:
			if n, ok := rtnl.ParseNeighbour(msg.Data); ok {
				m.rib.Neighbour(n)
			}
		case unix.RTM_DELNEIGH:
			if n, ok := rtnl.ParseNeighbour(msg.Data); ok {
				m.rib.NoNeighbour(n)
			}
		case unix.RTM_NEWLINK, unix.RTM_DELLINK:
			if l, ok := rtnl.ParseLink(msg.Data); ok {
				m.linkEvent(l, msg.Type == unix.RTM_DELLINK)
			}
		case unix.RTM_NEWADDR, unix.RTM_DELADDR:
			if a, ok := rtnl.ParseAddress(msg.Data); ok {
				m.addressEvent(a, msg.Type == unix.RTM_DELADDR)
			}
		case unix.RTM_NEWNEXTHOP, unix.RTM_DELNEXTHOP:
			// The routes that use an object go with it without an event (IPv4).
			if msg.Type == unix.RTM_DELNEXTHOP || msg.Flags&unix.NLM_F_REPLACE != 0 {
				m.routesMoved()
			}
		default:
			m.policyDirty = true // rules, settings, tc
		}
	}
}

// Routes that router advertisements brought are refreshed by the next ones, and
// end, without an event. So the table is read again lifetimeMargin before the end
// of the one that ends first, and one with less than twice that left is the
// kernel's.
const lifetimeMargin = 2 * time.Second

func (m *Mirror) parseRoute(b []byte) (rtnl.Route, bool) {
	rt, ok := rtnl.ParseRoute(b)
	if ok && rt.Lifetime != 0 {
		if rt.Lifetime < 2*lifetimeMargin {
			rt.Via.Odd |= rtnl.OddExpires
		}
		again := time.Now().Add(max(rt.Lifetime-lifetimeMargin, lifetimeMargin/2))
		if m.expireAt.IsZero() || again.Before(m.expireAt) {
			m.expireAt = again
		}
	}
	return rt, ok
}

func routeEvent(m nl.Message) rib.Event {
	switch {
	case m.Type == unix.RTM_DELROUTE:
		return rib.Delete
	case m.Flags&unix.NLM_F_REPLACE != 0:
		return rib.Replace
	}
	return rib.Add
}

func (m *Mirror) linkEvent(l rtnl.Link, gone bool) {
	l.Conf4, l.Conf6 = nil, nil // they alias the slab, and policy reads them anew
	old, had := m.links[l.Index]
	if gone {
		delete(m.links, l.Index)
	} else {
		m.links[l.Index] = l
	}
	if gone || !had || !sameLink(old, l) {
		m.policyDirty, m.portsDirty = true, true
	}
	const moving = unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_LOWER_UP
	if gone || !had || old.Flags&moving != l.Flags&moving || old.Master != l.Master {
		// IPv4 flushes the routes of an interface that goes down, and marks those of
		// one without a carrier, without an event (fib_sync_down_dev).
		m.routesMoved()
	}
}

// sameLink compares all that a port or a policy depends on.
func sameLink(a, b rtnl.Link) bool {
	return a.Index == b.Index && a.Name == b.Name && a.MAC == b.MAC && a.MTU == b.MTU && a.Flags == b.Flags &&
		a.Type == b.Type && a.Master == b.Master && a.Lower == b.Lower && a.LowerElsewhere == b.LowerElsewhere && a.Kind == b.Kind
}

func (m *Mirror) addressEvent(a rtnl.Address, gone bool) {
	if gone {
		delete(m.addrs, a)
		m.routesMoved() // routes with it as preferred source go; older kernels do not say so (fib_sync_down_addr)
	} else {
		m.addrs[a] = struct{}{}
	}
	m.localDirty = true
}

func (m *Mirror) routesMoved() {
	m.routesDirty = [2]bool{true, true}
	m.settleAt = time.Now().Add(settle)
}
