package policy

import (
	"weir/netstack/mirror/rtnl"
)

// harmless are the queueing disciplines that only queue: a frame that skips them
// is sent as it would have been when there is no congestion. All others may
// delay, mark or drop by intent.
var harmless = map[string]bool{
	"noqueue": true, "pfifo": true, "bfifo": true, "pfifo_fast": true, "mq": true, "fq_codel": true, "fq": true,
}

// judgeTC: an ingress or clsact qdisc without a filter does nothing and is no
// reason; one with a filter, or with a shared block, is.
func (f *Facts) judgeTC(l *rtnl.Link, v *Verdict) {
	if err := f.Failed[FromQdiscs]; err != nil {
		v.both("cannot read %s: %v", FromQdiscs, err)
		v.out("cannot read %s: %v", FromQdiscs, err)
	}
	for i := range f.Qdiscs {
		q := &f.Qdiscs[i]
		if q.IfIndex != l.Index {
			continue
		}
		switch {
		case q.Kind == "ingress" || q.Kind == "clsact":
			if q.Shared {
				v.both("tc %s has a shared block", q.Kind)
				v.out("tc %s has a shared block", q.Kind)
			}
		case !harmless[q.Kind]:
			v.out("tc qdisc %s", q.Kind)
		case q.Shared:
			v.out("tc qdisc %s has a shared block", q.Kind)
		case q.Paced:
			v.out("tc qdisc %s limits the rate", q.Kind)
		}
	}
	if err := f.Failed[FromFilters]; err != nil {
		v.both("cannot read %s: %v", FromFilters, err)
		v.out("cannot read %s: %v", FromFilters, err)
	}
	if err := f.Failed[FromTCX]; err != nil {
		v.both("cannot read %s: %v", FromTCX, err)
		v.out("cannot read %s: %v", FromTCX, err)
	}
	in, out := Place{l.Index, false}, Place{l.Index, true}
	if n := f.Filters[in]; n > 0 {
		v.both("tc filters: %d", n)
	}
	if n := f.Filters[out]; n > 0 {
		v.out("tc filters: %d", n)
	}
	if n := f.TCX[in]; n > 0 {
		v.both("tcx programs: %d", n)
	}
	if n := f.TCX[out]; n > 0 {
		v.out("tcx programs: %d", n)
	}
}
