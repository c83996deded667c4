package port

import (
	"fmt"
	"slices"
	"strings"
)

// stacked are kinds of links that lie on others and borrow their MAC address.
var stacked = []string{
	"vlan", "bridge", "bond", "team", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "hsr", "vrf",
	"vxlan", "geneve", "gretap", "ip6gretap", "erspan", "batadv", "ifb",
}

// find gives each port its link.
func (r *round) find() error {
	links, err := r.k.Links()
	if err != nil {
		for _, w := range r.ports {
			w.fail("not looked for, since the links cannot be listed")
		}
		return fmt.Errorf("listing the links: %w", err)
	}
	// Indices are not reused at once, but they are in the long run.
	for i := range r.kernel {
		if !slices.ContainsFunc(links, func(l Link) bool { return l.Index == i }) {
			delete(r.kernel, i)
		}
	}
	places := map[int]Place{}
	for _, l := range links {
		places[l.Index] = r.k.Place(l.Name)
		if r.kernel[l.Index] == "" {
			r.kernel[l.Index] = l.Name
		}
	}
	taken := map[int]string{}
	for _, w := range r.ports {
		l, err := find(links, places, w.Match)
		switch {
		case err != nil:
			w.errs = append(w.errs, err)
		case taken[l.Index] != "":
			w.fail("%s is the same interface as that of port %s: remove one of the two", w.Match, taken[l.Index])
		default:
			taken[l.Index] = w.Label
			w.link, w.place = l, places[l.Index]
			if w.place.Driver == "" {
				w.place.Driver = l.Kind
			}
		}
	}
	return nil
}

// find returns the one link that m matches.
func find(links []Link, places map[int]Place, m Match) (Link, error) {
	hit := func(want func(Link) bool) (hits []Link) {
		for _, l := range links {
			if want(l) && !slices.Contains(stacked, l.Kind) && l.Name != "lo" {
				hits = append(hits, l)
			}
		}
		return hits
	}
	var hits []Link
	switch {
	case m.PCI != "":
		hits = hit(func(l Link) bool { return places[l.Index].PCI == m.PCI })
	case m.DT != "":
		hits = hit(func(l Link) bool { return places[l.Index].DT == m.DT })
	default:
		// The burnt-in address first: ports of a switch wear that of the interface
		// behind them.
		if hits = hit(func(l Link) bool { return l.PermMAC == m.MAC }); len(hits) == 0 {
			hits = hit(func(l Link) bool { return l.MAC == m.MAC })
		}
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		return Link{}, fmt.Errorf("no interface has %s: correct the match or check the driver; there are %s", m, list(links, places))
	}
	var names []string
	for _, l := range hits {
		names = append(names, l.Name)
	}
	return Link{}, fmt.Errorf("%s all have %s: match the port in another way (mac, pci or dt)", strings.Join(names, ", "), m)
}

// list names the interfaces that a match could have meant.
func list(links []Link, places map[int]Place) string {
	var all []string
	for _, l := range links {
		if slices.Contains(stacked, l.Kind) || l.Name == "lo" {
			continue
		}
		s := l.Name + " (" + l.MAC
		if p := places[l.Index]; p.PCI != "" {
			s += ", " + p.PCI
		} else if p.DT != "" {
			s += ", " + p.DT
		}
		all = append(all, s+")")
	}
	if len(all) == 0 {
		return "none at all"
	}
	return strings.Join(all, ", ")
}
