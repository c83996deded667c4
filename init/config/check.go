package config

import (
	"fmt"
	"net/netip"
)

// checkPorts finds what two ports cannot both have: a label, a match, an
// address, a subnet.
func (r *reader) checkPorts(ports []portDecl) {
	labels, matches := map[string]int{}, map[Match]int{}
	for i, p := range ports {
		if p.Label != "" {
			if j, ok := labels[p.Label]; ok {
				r.fault(p.labelAt, fmt.Sprintf("%q is also the label of %s in line %d", p.Label, ports[j].at.key, ports[j].labelAt.line),
					"give each port its own label")
			} else {
				labels[p.Label] = i
			}
		}
		if p.Match != (Match{}) {
			if j, ok := matches[p.Match]; ok {
				r.fault(p.matchAt, fmt.Sprintf("is the same as that of %s in line %d", ports[j].at.key, ports[j].matchAt.line),
					"each interface can be one port only: remove one, or mend its match")
			} else {
				matches[p.Match] = i
			}
		}
	}
	r.checkAddresses(ports)
}

// checkAddresses: an address is one port's only, and so is a subnet. Subnets of
// two ports must not overlap either: the hosts of the wider one that lie in the
// narrower could not be reached, and which router has that on purpose? An
// address of its own (/32, /128) may lie in another port's subnet, as
// unnumbered links use it. Link-local networks are each link's own.
func (r *reader) checkAddresses(ports []portDecl) {
	type use struct {
		port int
		at   spot
	}
	addresses := map[netip.Addr]use{}
	type subnet struct {
		netip.Prefix
		use
	}
	var subnets []subnet
	for i, p := range ports {
		own := map[netip.Addr]bool{}
		for k, a := range p.Address {
			at := p.addressAt[k]
			if own[a.Addr()] {
				r.fault(at, fmt.Sprintf("%s is in the list twice", a.Addr()), "remove one")
				continue
			}
			own[a.Addr()] = true
			if a.Addr().Is6() && a.Addr().IsLinkLocalUnicast() {
				continue
			}
			if old, ok := addresses[a.Addr()]; ok {
				r.fault(at, fmt.Sprintf("%s is also an address of %s in line %d", a.Addr(), name(ports, old.port), old.at.line),
					"an address belongs to one port: change one of them")
				continue
			}
			addresses[a.Addr()] = use{i, at}
			if a.IsSingleIP() {
				continue
			}
			for _, s := range subnets {
				if s.port != i && s.Overlaps(a) {
					r.fault(at, fmt.Sprintf("the network %s overlaps with %s of %s in line %d", a.Masked(), s.Masked(), name(ports, s.port), s.at.line),
						"give each port its own network")
					break
				}
			}
			subnets = append(subnets, subnet{a, use{i, at}})
		}
	}
}

// checkRoutes judges the routes against each other and the ports.
func (r *reader) checkRoutes(d declaration) {
	seen := map[netip.Prefix]spot{}
	for _, rt := range d.routes {
		if rt.To.IsValid() {
			if old, ok := seen[rt.To]; ok {
				r.fault(rt.toAt, fmt.Sprintf("there is already a route to %s in line %d", rt.To, old.line), "keep one of the two")
				continue
			}
			seen[rt.To] = rt.toAt
			r.checkConnected(d.ports, rt)
		}
		out, ok := -1, true
		if rt.hasPort {
			out, ok = r.outPort(d.ports, rt)
		}
		if ok && rt.Via.IsValid() {
			r.checkVia(d.ports, rt, out)
		}
	}
}

// checkConnected faults a route to a network that a port is in.
func (r *reader) checkConnected(ports []portDecl, rt routeDecl) {
	for i, p := range ports {
		for _, a := range p.Address {
			if a.Masked() == rt.To {
				r.fault(rt.toAt, fmt.Sprintf("%s is the network of %s, and is reached there without a route", rt.To, name(ports, i)), "remove the route")
				return
			}
		}
	}
}

// outPort finds the port that a route names.
func (r *reader) outPort(ports []portDecl, rt routeDecl) (int, bool) {
	if rt.badPort {
		return -1, false
	}
	var labels []string
	for i, p := range ports {
		if p.rawLabel == rt.Port && rt.Port != "" {
			return i, true
		}
		labels = append(labels, p.rawLabel)
	}
	remedy := "use the label of a [[port]]"
	if near := nearest(rt.Port, labels); near != "" {
		remedy = fmt.Sprintf("did you mean %q?", near)
	}
	r.fault(rt.portAt, fmt.Sprintf("no port has the label %q", rt.Port), remedy)
	return -1, false
}

// checkVia judges a next router: it must be another machine on some port's
// cable. With a port named it may be outside that port's networks, as
// providers with a gateway outside the customer's network have it.
func (r *reader) checkVia(ports []portDecl, rt routeDecl, out int) {
	unsure := false
	for i, p := range ports {
		unsure = unsure || p.badAddress
		for _, a := range p.Address {
			if a.Addr() == rt.Via && !(rt.Via.Is6() && rt.Via.IsLinkLocalUnicast() && out >= 0 && out != i) {
				r.fault(rt.viaAt, fmt.Sprintf("%s is this machine's own address, of %s", rt.Via, name(ports, i)), "write the next router's address")
				return
			}
		}
	}
	if rt.Via.Is6() && rt.Via.IsLinkLocalUnicast() {
		if out < 0 {
			r.fault(rt.viaAt, fmt.Sprintf("%s is link-local, and every port has such a network", rt.Via), `add port = "wan", the port it is on`)
		}
		return
	}
	for i, p := range ports {
		for _, a := range p.Address {
			if !a.Contains(rt.Via) {
				continue
			}
			if out >= 0 && out != i {
				r.fault(rt.portAt, fmt.Sprintf("%s is in the network of %s, not of %s", rt.Via, name(ports, i), name(ports, out)),
					"leave the port out, or change one of the two")
			} else if a.Bits() < a.Addr().BitLen()-1 {
				if rt.Via == a.Masked().Addr() || rt.Via.Is4() && rt.Via == broadcast(a) {
					r.fault(rt.viaAt, fmt.Sprintf("%s is the network or broadcast address of %s", rt.Via, a.Masked()), "write the router's address")
				}
			}
			return
		}
	}
	if out < 0 && !unsure {
		r.fault(rt.viaAt, fmt.Sprintf("%s is in no port's network", rt.Via),
			`correct it, or add port = "wan" if it is reached there all the same`)
	}
}

// name is a port in a sentence.
func name(ports []portDecl, i int) string {
	if l := ports[i].Label; l != "" {
		return fmt.Sprintf("port %q", l)
	}
	return ports[i].at.key
}
