package config

import "fmt"

// declaration is a file as declared, each value with its place, for the checks
// between the tables.
type declaration struct {
	ports  []portDecl
	routes []routeDecl
}

// whole reads the whole file. A new section joins here: a getter for its
// tables, a function that reads one, and its checks against the others.
func (r *reader) whole(root *value) *Config {
	t := r.table(root, "")
	var c Config
	if s, at, ok := t.text("hostname", "gw"); ok {
		c.Hostname = r.hostname(s, at)
	}
	var d declaration
	ports := t.tables("port")
	for _, p := range ports {
		d.ports = append(d.ports, r.port(p))
	}
	for _, rt := range t.tables("route") {
		d.routes = append(d.routes, r.route(rt))
	}
	t.done()
	switch {
	case len(ports) > MaxPorts:
		r.fault(ports[MaxPorts].spot, fmt.Sprintf("is port %d of %d, and a box can have %d", MaxPorts+1, len(ports), MaxPorts),
			"remove ports")
		return &c // the checks between ports are quadratic
	case len(ports) == 0 && root.get("port") == nil:
		r.fault(spot{pos{1, 1}, "port"}, "the file declares no port, so the box could not be reached",
			`add [[port]] with match, label and address`)
	}
	r.checkPorts(d.ports)
	r.checkRoutes(d)
	for _, p := range d.ports {
		c.Ports = append(c.Ports, p.Port)
	}
	for _, rt := range d.routes {
		c.Routes = append(c.Routes, rt.Route)
	}
	return &c
}

// hostname checks a host name: RFC 1123 section 2.1, and Linux's 64 bytes.
func (r *reader) hostname(s string, at spot) string {
	const remedy = `use letters, digits and "-", as in hostname = "gw"`
	if s == "" {
		r.fault(at, "is empty", "leave the line out for the board's name, or name the host")
		return ""
	}
	if len(s) > 64 {
		r.fault(at, fmt.Sprintf("has %d characters, and Linux takes 64", len(s)), "shorten it")
		return ""
	}
	start := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '.' {
			c := s[i]
			if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-') {
				r.fault(at, fmt.Sprintf("%q has a character that a host name cannot have", s), remedy)
				return ""
			}
			continue
		}
		part := s[start:i]
		if part == "" || len(part) > 63 || part[0] == '-' || part[len(part)-1] == '-' {
			r.fault(at, fmt.Sprintf("%q has a part that is empty, over 63 characters or starts or ends with -", s), remedy)
			return ""
		}
		start = i + 1
	}
	return s
}
