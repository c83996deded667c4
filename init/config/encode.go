package config

import (
	"bytes"
	"fmt"
	"strings"
)

// Encode writes c as a weir.toml in one canonical form: the keys in the order
// of the schema, what is at its default left out. Parse of it gives c again.
func Encode(c *Config) []byte {
	var b bytes.Buffer
	if c.Hostname != "" {
		fmt.Fprintf(&b, "hostname = %s\n", quote(c.Hostname))
	}
	for _, p := range c.Ports {
		b.WriteString("\n[[port]]\n")
		for _, m := range []struct{ key, value string }{{"mac", p.Match.MAC}, {"dt", p.Match.DT}, {"pci", p.Match.PCI}} {
			if m.value != "" {
				fmt.Fprintf(&b, "match   = { %s = %s }\n", m.key, quote(m.value))
			}
		}
		fmt.Fprintf(&b, "label   = %s\n", quote(p.Label))
		if p.MTU != 0 {
			fmt.Fprintf(&b, "mtu     = %d\n", p.MTU)
		}
		if p.Tier != TierAuto && p.Tier != "" {
			fmt.Fprintf(&b, "tier    = %s\n", quote(string(p.Tier)))
		}
		if len(p.Address) > 0 {
			var list []string
			for _, a := range p.Address {
				list = append(list, quote(a.String()))
			}
			fmt.Fprintf(&b, "address = [%s]\n", strings.Join(list, ", "))
		}
		if p.Forward != nil {
			fmt.Fprintf(&b, "forward = %t\n", *p.Forward)
		}
	}
	for _, r := range c.Routes {
		fmt.Fprintf(&b, "\n[[route]]\nto   = %s\n", quote(r.To.String()))
		if r.Via.IsValid() {
			fmt.Fprintf(&b, "via  = %s\n", quote(r.Via.String()))
		}
		if r.Port != "" {
			fmt.Fprintf(&b, "port = %s\n", quote(r.Port))
		}
	}
	return bytes.TrimLeft(b.Bytes(), "\n")
}

// quote makes a TOML string of what Parse lets through: nothing in it needs an
// escape.
func quote(s string) string { return `"` + s + `"` }
