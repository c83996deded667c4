package port

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// rename gives every port its label as name. Names may be taken by each other
// (a swap), or by an interface that is no port: whoever holds a label that is
// another's first gets out of the way.
func (r *round) rename() error {
	links, err := r.k.Links()
	if err != nil {
		return fmt.Errorf("listing the links: %w", err)
	}
	names := map[string]*Link{}
	labels := map[string]bool{}
	for i := range links {
		names[links[i].Name] = &links[i]
	}
	ports := map[int]*work{}
	for _, w := range r.ports {
		labels[w.Label] = true
		if w.found() {
			ports[w.link.Index] = w
		}
	}
	free := func(stem string) string {
		for n := 0; ; n++ {
			if s := fmt.Sprintf("%s%d", stem, n); names[s] == nil && !labels[s] {
				return s
			}
		}
	}
	for _, w := range r.ports {
		holder := names[w.Label]
		if !w.found() || w.link.Name == w.Label || holder == nil {
			continue
		}
		stem := "spare"
		if ports[holder.Index] != nil {
			stem = "weir" // for a moment: its own label comes next
		}
		name := free(stem)
		if err := r.setName(holder, name); err != nil {
			w.fail("its name is taken by another interface, which cannot be renamed to %s: %w", name, err)
			continue
		}
		delete(names, w.Label)
		names[name] = holder
		if p := ports[holder.Index]; p != nil {
			p.link.Name, p.link.Up = name, holder.Up
		} else {
			r.changed(w, "the interface that had this name is now %s", name)
		}
	}
	for _, w := range r.ports {
		if !w.found() || w.link.Name == w.Label || names[w.Label] != nil {
			continue
		}
		before := r.kernel[w.link.Index]
		if err := r.setName(&w.link, w.Label); err != nil {
			if errors.Is(err, unix.EEXIST) {
				err = fmt.Errorf("%w (another interface has it as a second name: see `ip link show %s`)", err, w.Label)
			}
			w.fail("cannot be renamed from %s: %w", before, err)
			continue
		}
		names[w.Label] = &w.link
		r.changed(w, "renamed from %s", before)
	}
	return nil
}

// setName renames a link. Before Linux 6.2 a link had to be down for it: then
// it is taken down, which removes its IPv6 addresses and routes, and brought up
// again; the steps after this one put back what is missing.
func (r *round) setName(l *Link, name string) error {
	err := r.k.Rename(l.Index, name)
	if errors.Is(err, unix.EBUSY) && l.Up {
		if err := r.k.SetUp(l.Index, false); err != nil {
			return fmt.Errorf("it is up and cannot be taken down for it: %w", err)
		}
		err = r.k.Rename(l.Index, name)
		l.Up = false
		if upErr := r.k.SetUp(l.Index, true); upErr == nil {
			l.Up = true
		}
	}
	if err == nil {
		l.Name = name
	}
	return err
}
