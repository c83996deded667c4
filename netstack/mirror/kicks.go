package mirror

import (
	"errors"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/nl"
	"weir/netstack/mirror/policy"
	"weir/netstack/mirror/rtnl"
)

// kickSources are the events whose content does not matter: something changed
// there, so read it again.
var kickSources = [2]struct {
	protocol int
	group    uint32
}{
	{unix.NETLINK_NETFILTER, unix.NFNLGRP_NFTABLES},
	{unix.NETLINK_XFRM, 4}, // XFRMNLGRP_POLICY
}

// followKicks listens to the sources that the kernel has and that are not
// listened to; a module that is loaded later is found by the next poll. fresh: one
// is new, and what it tells of may have changed before anybody listened.
func (m *Mirror) followKicks() (fresh bool) {
	if !m.running.Load() {
		return false
	}
	for i, s := range kickSources {
		if m.kicks[i] != nil {
			continue
		}
		var c *nl.Conn
		m.thread.do(func() {
			if policy.Present(s.protocol) {
				c, _ = nl.Dial(s.protocol, s.group)
			}
		})
		if c == nil {
			continue
		}
		m.kicks[i] = c
		m.children.Add(1)
		go m.readKicks(c)
		fresh = true
	}
	return fresh
}

func (m *Mirror) readKicks(c *nl.Conn) {
	defer m.children.Done()
	b := make([]byte, nl.BufferSize)
	for {
		_, err := c.Receive(b)
		if err != nil && !errors.Is(err, nl.ErrOverrun) {
			return
		}
		if errors.Is(err, nl.ErrOverrun) {
			_ = c.Discard()
		}
		select {
		case m.kick <- struct{}{}:
		default:
		}
	}
}

// confirm runs on Run's goroutine.
func (m *Mirror) confirm(ids []uint32) {
	var body []byte
	for _, id := range ids {
		ifIndex, addr, stale := m.rib.HopNeighbour(id)
		if !stale {
			continue
		}
		body = rtnl.AppendUse(body[:0], ifIndex, addr)
		if err := m.orders.Send(unix.RTM_NEWNEIGH, 0, body); err != nil {
			m.log.Warn("cannot ask the kernel to confirm a neighbour", "neighbour", addr, "error", err)
			return
		}
		m.count(func(s *Stats) { s.Confirms++ })
	}
	_ = m.orders.Discard() // refusals: the entry is gone, and its event on the way
}
