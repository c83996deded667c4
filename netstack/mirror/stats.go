package mirror

import "time"

// Stats counts what the mirror did since New.
type Stats struct {
	Events     uint64 // messages taken in
	Published  uint64 // snapshots
	Overruns   uint64 // times the kernel lost events
	Resyncs    uint64 // full readings, the first included
	RouteDumps uint64 // readings of one family's routes
	Policies   uint64 // full readings of what the kernel would ask besides routes
	Confirms   uint64 // neighbours the kernel was asked to confirm
	// Pending is how many readings of a family's routes are due: until then,
	// prefixes in doubt are the kernel's.
	Pending int
	// LastApply is how long the newest snapshot took to make and hand over,
	// LastDump how long the newest reading of a family's routes took.
	LastApply, LastDump time.Duration
	// Routes4 and Routes6 are the prefixes in the newest snapshot's FIB.
	Routes4, Routes6 int
}

// Stats may be called from any goroutine.
func (m *Mirror) Stats() Stats {
	m.statsMu.Lock()
	s := m.stats
	m.statsMu.Unlock()
	if c := m.Current(); c != nil {
		s.Routes4, s.Routes6 = c.FIB.Len()
	}
	return s
}

func (m *Mirror) count(f func(*Stats)) {
	m.statsMu.Lock()
	f(&m.stats)
	m.statsMu.Unlock()
}
