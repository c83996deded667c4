package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// portDecl is a [[port]] with the places of its values.
type portDecl struct {
	Port
	at, labelAt, matchAt spot
	addressAt            []spot
	// badAddress is set when an address was faulty and left out, so that nothing
	// more can be said about what the port reaches.
	badAddress bool
	rawLabel   string // also when it was faulty
}

const matchExample = `match = { mac = "52:54:00:00:00:01" }`

func (r *reader) port(t *table) portDecl {
	p := portDecl{at: t.spot}
	var ok bool
	if m, ok := t.sub("match", matchExample); ok {
		p.matchAt = m.spot
		p.Match = r.match(m)
	} else if t.val.get("match") == nil {
		r.fault(t.spot, "has no match, so no interface can be found for it", "add "+matchExample)
	}

	p.Label, p.labelAt, ok = t.text("label", "wan")
	p.rawLabel = p.Label
	if ok {
		p.Label = r.label(p.Label, p.labelAt)
	} else if t.val.get("label") == nil {
		r.fault(t.spot, "has no label", `add label = "wan", the name printed on the case`)
	}

	// 68 is IPv4's least (RFC 791 section 3.1), 65535 the most a packet can have.
	mtu, mtuAt, _ := t.number("mtu", 1500, 68, 65535, "is no MTU of an Ethernet port", "use 68 to 65535, usually 1500, or leave it out")
	p.MTU = mtu

	p.Tier = TierAuto
	if s, at, ok := t.text("tier", "auto"); ok {
		p.Tier = r.tier(s, at)
	}

	listed := t.texts("address", "192.168.1.1/24")
	if e := t.val.get("address"); e != nil {
		p.badAddress = e.val.kind != kindArray || len(listed) < len(e.val.elems)
	}
	for _, l := range listed {
		a, ok := r.interfaceAddress(l.text, l.spot)
		if !ok {
			p.badAddress = true
			continue
		}
		p.Address = append(p.Address, a)
		p.addressAt = append(p.addressAt, l.spot)
	}
	if p.MTU != 0 && p.MTU < 1280 && slices.ContainsFunc(p.Address, func(a netip.Prefix) bool { return a.Addr().Is6() }) {
		// RFC 8200 section 5.
		r.fault(mtuAt, fmt.Sprintf("%d is less than the 1280 that IPv6 needs, and the port has an IPv6 address", p.MTU),
			"use 1280 or more, or remove the IPv6 address")
	}

	if f, _, ok := t.flag("forward"); ok {
		p.Forward = &f
	}
	t.done()
	return p
}

// label checks a port's name. The kernel refuses more than 15 bytes, "/", ":",
// white space, "." and ".." (dev_valid_name, net/core/dev.c); "%" makes it
// count; all and default are sysctl's words for every interface.
func (r *reader) label(s string, at spot) string {
	const remedy = `use 1 to 15 of a-z, 0-9, "_", "." and "-", starting with a letter, as in label = "wan"`
	bad := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-')
	}
	switch {
	case s == "":
		r.fault(at, "is empty", remedy)
	case len(s) > 15:
		r.fault(at, fmt.Sprintf("%q has %d characters, and the kernel takes 15", s, len(s)), "shorten it")
	case strings.ContainsFunc(s, bad) || s[0] < 'a':
		r.fault(at, fmt.Sprintf("%q cannot be the name of an interface", s), remedy)
	case s == "all" || s == "default" || s == "lo":
		r.fault(at, fmt.Sprintf("%q is a name that the kernel uses itself", s), `choose another, as in label = "wan"`)
	default:
		return s
	}
	return ""
}

func (r *reader) tier(s string, at spot) Tier {
	tiers := []string{string(TierAuto), string(TierXDP), string(TierAFXDP), string(TierAFPacket), string(TierKernel)}
	if slices.Contains(tiers, s) {
		return Tier(s)
	}
	remedy := "use one of " + strings.Join(tiers, ", ")
	if near := nearest(s, tiers); near != "" {
		remedy = fmt.Sprintf("did you mean %q?", near)
	}
	r.fault(at, fmt.Sprintf("there is no tier %q", s), remedy)
	return TierAuto
}

// match reads how a port is found: exactly one way.
func (r *reader) match(t *table) Match {
	var m Match
	set := 0
	if s, at, ok := t.text("mac", "52:54:00:00:00:01"); ok {
		set++
		m.MAC = r.mac(s, at)
	}
	if s, at, ok := t.text("dt", "/soc/ethernet@1000"); ok {
		set++
		m.DT = r.deviceTree(s, at)
	}
	if s, at, ok := t.text("pci", "0000:00:01.0"); ok {
		set++
		m.PCI = r.pci(s, at)
	}
	t.done()
	switch {
	case set > 1:
		r.fault(t.spot, "names the port in more than one way, and they could disagree", "keep one of mac, dt and pci")
	case len(t.val.keys) == 0:
		r.fault(t.spot, "is empty", "write "+matchExample)
	}
	return m
}

// mac checks a MAC address and returns it in lower case with colons.
func (r *reader) mac(s string, at spot) string {
	const remedy = `write it as on the case, as in mac = "52:54:00:00:00:01"`
	parts := strings.FieldsFunc(s, func(c rune) bool { return c == ':' || c == '-' })
	var b [6]byte
	ok := len(parts) == 6 && len(s) == 17
	for i := 0; ok && i < 6; i++ {
		n, err := strconv.ParseUint(parts[i], 16, 8)
		ok = err == nil && len(parts[i]) == 2
		b[i] = byte(n)
	}
	switch {
	case !ok:
		r.fault(at, fmt.Sprintf("%q is not a MAC address", s), remedy)
	case b == [6]byte{}:
		r.fault(at, "is the zero address, which no port has", remedy)
	case b[0]&1 != 0:
		r.fault(at, fmt.Sprintf("%s is a group address, which no port has", s), remedy)
	default:
		return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5])
	}
	return ""
}

// pci checks a PCI address, domain:bus:device.function in hex, as sysfs names
// it, and returns it in lower case.
func (r *reader) pci(s string, at spot) string {
	s = strings.ToLower(s)
	rest, fn, ok1 := strings.Cut(s, ".")
	parts := strings.Split(rest, ":")
	hex := func(s string, digits int, limit uint64) bool {
		n, err := strconv.ParseUint(s, 16, 32)
		return err == nil && len(s) == digits && n <= limit
	}
	if ok1 && len(parts) == 2 && hex(parts[0], 2, 0xff) && hex(parts[1], 2, 0x1f) && hex(fn, 1, 7) {
		r.fault(at, fmt.Sprintf("%q lacks the PCI domain", s), fmt.Sprintf("write pci = %q", "0000:"+s))
		return ""
	}
	// A domain has four digits, or more on machines with very many.
	if !ok1 || len(parts) != 3 || len(parts[0]) < 4 || len(parts[0]) > 8 || !hex(parts[0], len(parts[0]), 0xffffffff) ||
		!hex(parts[1], 2, 0xff) || !hex(parts[2], 2, 0x1f) || !hex(fn, 1, 7) {
		r.fault(at, fmt.Sprintf("%q is not a PCI address", s), `write domain:bus:device.function, as in pci = "0000:00:01.0"`)
		return ""
	}
	return s
}

// deviceTree checks a path of the device tree (Devicetree Specification 0.4,
// section 2.2): absolute, of non-empty names.
func (r *reader) deviceTree(s string, at spot) string {
	const remedy = `write the path from the root, as in dt = "/soc/ethernet@1000"`
	if !strings.HasPrefix(s, "/") || s == "/" {
		r.fault(at, fmt.Sprintf("%q is not a device-tree path", s), remedy)
		return ""
	}
	for _, name := range strings.Split(s[1:], "/") {
		bad := func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(",._+-@", c))
		}
		if name == "" || name == "." || name == ".." || strings.ContainsFunc(name, bad) {
			r.fault(at, fmt.Sprintf("%q is not a device-tree path: %q is not the name of a node", s, name), remedy)
			return ""
		}
	}
	return s
}
