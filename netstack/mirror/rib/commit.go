package rib

import (
	"net/netip"
	"slices"

	"weir/netstack/fib"
	"weir/netstack/frame"
	"weir/netstack/snapshot"
)

// keepDirty is the most changes whose bookkeeping is kept for the next Commit: a
// hundred thousand would hold some eight MiB for good.
const keepDirty = 4096

// Commit works out everything that changed since the last Commit. The cost is
// that of what changed, not of the tables' size, except that a change of any next
// hop copies the list of next hops.
func (r *RIB) Commit() Result {
	if r.hops.starved && len(r.hops.free) > 0 {
		r.hops.starved = false
		r.touchAll()
	}
	var changes []fib.Change
	var changed []netip.Prefix
	for _, p := range r.dirtyOrder {
		have, had := r.table.Get(p)
		want, ok := r.wanted(p)
		if ok == had && (!ok || want == have) {
			continue
		}
		if ok {
			r.hops.ref(want)
			changes = append(changes, fib.Change{Prefix: p, Value: want})
		} else {
			changes = append(changes, fib.Change{Prefix: p, Delete: true})
		}
		if had {
			r.hops.unref(have)
		}
		changed = append(changed, p)
	}
	if len(r.dirtyOrder) > keepDirty {
		r.dirtyOrder, r.dirty = nil, make(map[netip.Prefix]struct{})
	} else {
		r.dirtyOrder = r.dirtyOrder[:0]
		clear(r.dirty)
	}
	if len(changes) > 0 {
		r.table = r.table.With(changes)
	}
	freed := r.release()
	hopsChanged := r.refresh()
	// The result holds no reference to what was freed: the next Commit may give
	// those ids out again.
	r.hops.free = append(r.hops.free, freed...)
	return Result{FIB: r.table, NextHops: r.hops.content, Changed: changed, HopsChanged: hopsChanged}
}

// wanted is the id the FIB is to hold for a prefix.
func (r *RIB) wanted(p netip.Prefix) (id uint32, ok bool) {
	a, ok := r.decide(p)
	if !ok {
		return 0, false
	}
	if !a.forward {
		return kernelHop(a.reason), true
	}
	if id, ok = r.hopID(a.key); !ok {
		return kernelHop(frame.ReasonKernelRoute), true
	}
	return id, true
}

// release takes ids that nothing refers to out of use.
func (r *RIB) release() (freed []uint32) {
	for id := range r.hops.unused {
		e := &r.hops.all[id]
		delete(r.hops.ids, e.key)
		e.to.hops = slices.DeleteFunc(e.to.hops, func(x uint32) bool { return x == id })
		r.reap(e.to)
		*e = hop{}
		r.hops.touch(id)
		freed = append(freed, id)
	}
	clear(r.hops.unused)
	return freed
}

// refresh works the touched next hops out again, into a copy.
func (r *RIB) refresh() (changed bool) {
	h := &r.hops
	if len(h.content) < len(h.all) {
		h.content = append(slices.Clone(h.content), make([]snapshot.NextHop, len(h.all)-len(h.content))...)
		changed = true
	}
	for id := range h.dirty {
		nh := r.contentOf(id)
		if nh == h.content[id] {
			continue
		}
		if !changed {
			h.content = slices.Clone(h.content)
			changed = true
		}
		h.content[id] = nh
	}
	clear(h.dirty)
	return changed
}
