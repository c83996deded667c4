package rib

import (
	"testing"

	"weir/netstack/snapshot"
)

// idRule: an id that two successive results both refer to stands for the same
// next hop in both, and ids refer to what exists.
type idRule struct {
	keys map[uint32]hopKey
}

func (r *idRule) check(t *testing.T, b *RIB, res Result) {
	t.Helper()
	now := make(map[uint32]hopKey)
	for p, id := range res.FIB.All() {
		if int(id) >= len(res.NextHops) {
			t.Fatalf("%v refers to next hop %d of %d", p, id, len(res.NextHops))
		}
		if id < fixedHops {
			continue
		}
		k := b.hops.all[id].key
		if was, ok := r.keys[id]; ok && was != k {
			t.Fatalf("next hop %d was %+v in the last result and is %+v in this", id, was, k)
		}
		now[id] = k
	}
	r.keys = now
	if used := len(b.hops.ids); used != len(now) {
		t.Fatalf("%d next hops are kept, %d are referred to", used, len(now))
	}
	if free := len(b.hops.free); free+len(now)+int(fixedHops) != len(b.hops.all) {
		t.Fatalf("of %d next hops %d are referred to and %d free", len(b.hops.all), len(now), free)
	}
	if res.NextHops[0] != (snapshot.NextHop{}) {
		t.Fatalf("next hop 0 is %+v", res.NextHops[0])
	}
}
