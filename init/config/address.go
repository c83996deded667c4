package config

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// prefix parses ADDRESS/LENGTH; what is wrong with it is told with a remedy that
// can be copied.
func (r *reader) prefix(s string, at spot) (netip.Prefix, bool) {
	host, length, slash := strings.Cut(s, "/")
	a, err := netip.ParseAddr(host)
	if err != nil || a.Zone() != "" {
		r.fault(at, fmt.Sprintf("%q is not an IP address with prefix length", s), `write as in "192.168.1.1/24" or "2001:db8::1/64"`)
		return netip.Prefix{}, false
	}
	if a.Is4In6() {
		r.fault(at, fmt.Sprintf("%s is an IPv4 address in IPv6 form", host), fmt.Sprintf("write %s", a.Unmap()))
		return netip.Prefix{}, false
	}
	if !slash {
		usual := 64
		if a.Is4() {
			usual = 24
		}
		r.fault(at, fmt.Sprintf("%s lacks its prefix length", s), fmt.Sprintf("write %q, or the length that the network has", fmt.Sprintf("%s/%d", s, usual)))
		return netip.Prefix{}, false
	}
	if mask := net.ParseIP(length).To4(); mask != nil {
		if ones, bits := net.IPMask(mask).Size(); bits != 0 && a.Is4() {
			r.fault(at, fmt.Sprintf("%s has a network mask instead of a prefix length", s), fmt.Sprintf("write \"%s/%d\"", host, ones))
			return netip.Prefix{}, false
		}
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		r.fault(at, fmt.Sprintf("%q has no valid prefix length", s), fmt.Sprintf("use 0 to %d after the slash", a.BitLen()))
		return netip.Prefix{}, false
	}
	return p, true
}

// interfaceAddress checks an address for a port: a unicast host address of its
// own subnet. RFC 1122 section 3.2.1.3, RFC 3021 for /31, RFC 4291 section 2.6.1
// and RFC 6164 for IPv6.
func (r *reader) interfaceAddress(s string, at spot) (netip.Prefix, bool) {
	p, ok := r.prefix(s, at)
	if !ok {
		return p, false
	}
	a := p.Addr()
	if kind := unusable(a); kind != "" {
		r.fault(at, fmt.Sprintf("%s is %s, which no port can have", a, kind), "use a unicast address")
		return p, false
	}
	if p.Bits() == 0 {
		r.fault(at, fmt.Sprintf("%s says that the whole Internet is on this port's cable", s),
			`give the length of the network, and add a [[route]] to = "0.0.0.0/0" or "::/0" for the rest`)
		return p, false
	}
	// A network of one or two addresses has neither.
	if p.Bits() >= a.BitLen()-1 {
		return p, true
	}
	if a == p.Masked().Addr() {
		what := "the network's own address"
		if a.Is6() {
			what = "the anycast address of all routers of the network"
		}
		r.fault(at, fmt.Sprintf("%s is %s, not a host's", s, what), fmt.Sprintf("use another, as in \"%s/%d\"", a.Next(), p.Bits()))
		return p, false
	}
	if a.Is4() && a == broadcast(p) {
		r.fault(at, fmt.Sprintf("%s is the broadcast address of its network", s), fmt.Sprintf("use another, as in \"%s/%d\"", a.Prev(), p.Bits()))
		return p, false
	}
	return p, true
}

// unusable says what keeps an address from being a host's, or "".
func unusable(a netip.Addr) string {
	switch {
	case a.IsUnspecified():
		return "the unspecified address"
	case a.IsLoopback():
		return "a loopback address"
	case a.IsMulticast():
		return "a multicast address"
	case a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return "the broadcast address"
	case a.Is4() && a.As4()[0] == 0:
		return `an address of "this network" (0.0.0.0/8)`
	}
	return ""
}

// broadcast is the last address of an IPv4 network.
func broadcast(p netip.Prefix) netip.Addr {
	b := p.Addr().As4()
	for i := p.Bits(); i < 32; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	return netip.AddrFrom4(b)
}
