package mirror

import (
	"context"
	"errors"
	"time"

	"weir/netstack/mirror/nl"
)

// loop is the life of the mirror: take in what happened, look again where that
// is not enough, publish.
func (m *Mirror) loop(ctx context.Context) error {
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	later := time.NewTimer(time.Hour)
	defer later.Stop()
	var lastPublish, pendingSince time.Time
	pending := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case s := <-m.slabs:
			if err := m.take(s); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
		case <-m.kick:
			m.policyDirty = true
		case <-poll.C:
			m.pollDue = true
		case ids := <-m.confirms:
			m.confirm(ids)
		case <-later.C:
		}
		now := time.Now()
		if !pending {
			pendingSince = now
		}
		pending = true
		if len(m.slabs) > 0 && now.Sub(pendingSince) < publishEvery {
			continue
		}
		if wait := publishEvery - now.Sub(lastPublish); wait > 0 {
			later.Reset(wait)
			continue
		}
		wait, err := m.catchUp(now)
		if err != nil {
			return err
		}
		m.countPending()
		if m.publish() {
			lastPublish = time.Now()
		}
		pending = false
		if wait > 0 {
			later.Reset(wait)
		}
	}
}

// catchUp reads again what events cannot tell, as far as it is time; wait is
// when to come back, 0: no need.
func (m *Mirror) catchUp(now time.Time) (wait time.Duration, err error) {
	if m.policyDirty || m.pollDue {
		m.readPolicy(m.policyDirty || !now.Before(m.wholeAt))
	}
	if due(m.settleAt, now) {
		m.settleAt = time.Time{}
		m.routesDirty = [2]bool{true, true}
	}
	if due(m.expireAt, now) {
		m.expireAt = time.Time{}
		m.routesDirty[1] = true
	}
	for i, family := range families {
		if !m.routesDirty[i] && !m.rib.Unsure(family) {
			continue
		}
		if now.Before(m.syncAfter) {
			return m.syncAfter.Sub(now), nil
		}
		if err := m.syncRoutes(family); err != nil {
			return 0, err
		}
	}
	for _, at := range []time.Time{m.settleAt, m.expireAt} {
		if left := max(at.Sub(now), time.Millisecond); !at.IsZero() && (wait == 0 || left < wait) {
			wait = left
		}
	}
	return wait, nil
}

func due(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

func (m *Mirror) countPending() {
	n := 0
	for i, family := range families {
		if m.routesDirty[i] || m.rib.Unsure(family) {
			n++
		}
	}
	if !m.settleAt.IsZero() {
		n++
	}
	m.count(func(s *Stats) { s.Pending = n })
}

// take takes a slab in and gives its memory back.
func (m *Mirror) take(s slab) error {
	defer func() { m.free <- s.b[:cap(s.b)] }()
	if errors.Is(s.err, nl.ErrOverrun) {
		m.count(func(s *Stats) { s.Overruns++ })
		m.log.Warn("kernel events were lost: reading everything again")
		m.policyDirty = true
		return m.resync()
	}
	if s.err == nil {
		m.apply(s.b)
	}
	return s.err
}
