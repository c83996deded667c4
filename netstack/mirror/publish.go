package mirror

import (
	"net/netip"
	"slices"
	"time"

	"weir/netstack/frame"
	"weir/netstack/mirror/rib"
	"weir/netstack/mirror/rtnl"
	"weir/netstack/snapshot"
)

// publish makes a snapshot of what differs from the last, if anything does.
func (m *Mirror) publish() bool {
	start := time.Now()
	prev := m.current.Load()
	if m.portsDirty {
		m.portsDirty = false
		for i := range m.cfg.Ports {
			m.rib.SetPort(frame.PortID(i), m.ribPort(i))
		}
	}
	res := m.rib.Commit()
	next := &snapshot.Snapshot{Generation: 1, Ports: m.snapshotPorts(), FIB: res.FIB, NextHops: res.NextHops, Local4: m.local4}
	localChanged := m.localDirty
	if m.localDirty {
		m.localDirty = false
		m.local4 = m.newLocal4()
		next.Local4 = m.local4
	}
	changed := res.Changed
	if prev != nil {
		if len(changed) == 0 && !res.HopsChanged && !localChanged && slices.EqualFunc(prev.Ports, next.Ports, samePort) {
			return false
		}
		next.Generation = prev.Generation + 1
		if changed == nil {
			changed = []netip.Prefix{}
		}
	} else {
		changed = nil
	}
	m.current.Store(next)
	if m.cfg.OnChange != nil && m.running.Load() {
		m.cfg.OnChange(prev, next, changed)
	}
	m.count(func(s *Stats) { s.Published++; s.LastApply = time.Since(start) })
	return true
}

func samePort(a, b snapshot.Port) bool {
	return a.Name == b.Name && a.IfIndex == b.IfIndex && a.MAC == b.MAC && a.MTU == b.MTU &&
		a.Fast4 == b.Fast4 && a.Fast6 == b.Fast6 && slices.Equal(a.Slow, b.Slow)
}

func (m *Mirror) link(name string) (rtnl.Link, bool) {
	for _, l := range m.links {
		if l.Name == name {
			return l, true
		}
	}
	return rtnl.Link{}, false
}

func (m *Mirror) ribPort(i int) rib.Port {
	l, ok := m.link(m.cfg.Ports[i])
	if !ok {
		return rib.Port{}
	}
	v := &m.verdicts[i]
	mtu6 := l.MTU
	if v.MTU6 != 0 {
		mtu6 = min(mtu6, v.MTU6)
	}
	return rib.Port{IfIndex: l.Index, MAC: l.MAC, MTU4: l.MTU, MTU6: mtu6, Out: len(v.Out) == 0}
}

func (m *Mirror) snapshotPorts() []snapshot.Port {
	ports := make([]snapshot.Port, len(m.cfg.Ports))
	for i, name := range m.cfg.Ports {
		v := m.verdicts[i]
		if m.rib.Realms() {
			v.V4 = append(slices.Clip(v.V4), "routes with realms: the kernel looks sources up")
		}
		if m.rib.OwnLocal() {
			v.V4 = append(slices.Clip(v.V4), "local routes were added by hand: the kernel looks sources up")
		}
		p := snapshot.Port{Name: name, Fast4: v.Fast4(), Fast6: v.Fast6(), Slow: v.Words()}
		if l, ok := m.link(name); ok {
			p.IfIndex, p.MAC, p.MTU = int(l.Index), l.MAC, int(l.MTU)
		} else {
			p.Fast4, p.Fast6 = false, false
		}
		ports[i] = p
	}
	return ports
}

func (m *Mirror) newLocal4() snapshot.Local4 {
	var own []netip.Addr
	for a := range m.addrs {
		own = append(own, a.Addr)
	}
	return snapshot.NewLocal4(own...)
}

// readPolicy asks again who stands between the ports and the fast path: all, or
// only those who send no event when they change.
func (m *Mirror) readPolicy(whole bool) {
	m.policyDirty, m.pollDue = false, false
	whole = m.followKicks() || whole
	m.thread.do(func() {
		if whole {
			m.facts = m.reader.Read(m.cfg.Ports)
		} else {
			m.facts = m.reader.Poll(m.facts, m.cfg.Ports)
		}
	})
	if whole {
		m.wholeAt = time.Now().Add(wholeEvery)
	}
	for i, name := range m.cfg.Ports {
		m.verdicts[i] = m.facts.Judge(name)
	}
	m.portsDirty = true
	if whole {
		m.count(func(s *Stats) { s.Policies++ })
	}
}
