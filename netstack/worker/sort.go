package worker

import "weir/netstack/frame"

// sorter lists the frames of one batch, as indices into it, by what happens to
// them: the verdicts of the whole batch first, then one call per out port.
type sorter struct {
	lists  [frame.MaxPorts][frame.BatchSize]uint8
	lens   [frame.MaxPorts]uint8
	ports  [frame.MaxPorts]frame.PortID // with a list that is not empty
	nPorts int
	punts  [frame.BatchSize]uint8
	nPunts int
	drops  [frame.BatchSize]uint8
	nDrops int
	back   [frame.BatchSize]uint8 // to be released
	nBack  int
}

// sort lists b's frames, in order.
func (s *sorter) sort(b *frame.Batch) {
	for _, p := range s.ports[:s.nPorts] {
		s.lens[p] = 0
	}
	s.nPorts, s.nPunts, s.nDrops, s.nBack = 0, 0, 0, 0
	for i := range b.F[:b.N] {
		f := &b.F[i]
		switch {
		case f.Verdict == frame.VerdictForward && f.Out < frame.MaxPorts:
			n := s.lens[f.Out]
			if n == 0 {
				s.ports[s.nPorts] = f.Out
				s.nPorts++
			}
			s.lists[f.Out][n] = uint8(i)
			s.lens[f.Out] = n + 1
		case f.Verdict == frame.VerdictDrop:
			s.drops[s.nDrops] = uint8(i)
			s.nDrops++
		default:
			s.punts[s.nPunts] = uint8(i)
			s.nPunts++
		}
	}
}

// list is the frames that leave by p.
func (s *sorter) list(p frame.PortID) []uint8 { return s.lists[p][:s.lens[p]] }
