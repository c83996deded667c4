package config

import (
	"fmt"
	"net/netip"
)

// routeDecl is a [[route]] with the places of its values.
type routeDecl struct {
	Route
	at, toAt, viaAt, portAt spot
	hasVia, hasPort         bool // also when it was faulty
	badPort                 bool // of another type, already faulted
}

func (r *reader) route(t *table) routeDecl {
	d := routeDecl{at: t.spot}
	var ok bool
	var s string
	if s, d.toAt, ok = t.text("to", "0.0.0.0/0"); ok {
		d.To = r.destination(s, d.toAt)
	} else if t.val.get("to") == nil {
		r.fault(t.spot, "has no destination", `add to = "0.0.0.0/0", or the network to reach`)
	}
	s, d.viaAt, ok = t.text("via", "192.168.1.254")
	d.hasVia = t.val.get("via") != nil
	if ok {
		d.Via = r.gateway(s, d.viaAt)
	}
	d.Port, d.portAt, ok = t.text("port", "wan")
	d.hasPort = t.val.get("port") != nil
	d.badPort = d.hasPort && !ok
	t.done()
	if !d.hasVia && !d.hasPort {
		r.fault(t.spot, "says neither via which router nor by which port it leaves", `add via = "192.168.1.254" or port = "wan"`)
	}
	if d.To.IsValid() && d.Via.IsValid() && d.To.Addr().Is4() != d.Via.Is4() {
		r.fault(d.viaAt, fmt.Sprintf("%s cannot be reached via %s, which is of the other IP version", d.To, d.Via),
			"use a router address of the destination's version")
		d.Via = netip.Addr{}
	}
	return d
}

// destination checks the network a route leads to.
func (r *reader) destination(s string, at spot) netip.Prefix {
	if s == "default" {
		r.fault(at, `"default" does not say which IP version`, `write to = "0.0.0.0/0" or to = "::/0"`)
		return netip.Prefix{}
	}
	p, ok := r.prefix(s, at)
	if !ok {
		return netip.Prefix{}
	}
	if p != p.Masked() {
		r.fault(at, fmt.Sprintf("%s has bits set after its prefix", s), fmt.Sprintf("write %q", p.Masked()))
		return netip.Prefix{}
	}
	a := p.Addr()
	scoped := ""
	switch {
	case p.Bits() == 0:
	case a.IsMulticast():
		scoped = "multicast"
	case a.IsLoopback() || a.Is4() && a.As4()[0] == 127:
		scoped = "loopback"
	case a.Is6() && a.IsLinkLocalUnicast():
		scoped = "link-local"
	}
	if scoped != "" {
		r.fault(at, fmt.Sprintf("%s is %s and is never routed", s, scoped), "remove the route")
		return netip.Prefix{}
	}
	return p
}

// gateway checks the address of a next router.
func (r *reader) gateway(s string, at spot) netip.Addr {
	a, err := netip.ParseAddr(s)
	switch {
	case err != nil && len(s) > 0 && containsSlash(s):
		r.fault(at, fmt.Sprintf("%q is a network", s), "write the router's address alone, without a prefix length")
	case err != nil:
		r.fault(at, fmt.Sprintf("%q is not an IP address", s), `write as in via = "192.168.1.254"`)
	case a.Zone() != "":
		r.fault(at, fmt.Sprintf("%q names its port in the address", s), fmt.Sprintf("write via = %q and port = %q", a.WithZone(""), a.Zone()))
	case a.Is4In6():
		r.fault(at, fmt.Sprintf("%s is an IPv4 address in IPv6 form", s), fmt.Sprintf("write %s", a.Unmap()))
	case unusable(a) != "":
		r.fault(at, fmt.Sprintf("%s is %s, not a router's", a, unusable(a)), "write the router's address")
	default:
		return a
	}
	return netip.Addr{}
}

func containsSlash(s string) bool {
	_, err := netip.ParsePrefix(s)
	return err == nil
}
