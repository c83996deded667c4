package config

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// FuzzParse: never a panic; faults or a configuration, never both or neither;
// what is accepted survives Encode, and go-toml's strict decoder, which knows
// nothing of this package's reader, reads the same values.
func FuzzParse(f *testing.F) {
	names, _ := filepath.Glob("testdata/*/*.toml")
	if len(names) == 0 {
		f.Fatal("no seeds")
	}
	for _, n := range names {
		data, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("port = [[1]]\n"))
	f.Add([]byte("a.b = 1\n[a]\nb = 2\n[a.b.c]\n[[a.b]]\n"))
	f.Add([]byte("[[port]]\n\"\" = {a.b=1, a.c=2, a=3}\n'match' = {\"mac\"=\"\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		c, faults := Parse("f", data)
		if !bytes.Equal(data, before) {
			t.Fatal("Parse changed its input")
		}
		if (c == nil) == (len(faults) == 0) {
			t.Fatalf("config %v, faults %v", c, faults)
		}
		lines := bytes.Count(data, []byte("\n")) + 1
		for _, fault := range faults {
			if fault.Line < 1 || fault.Line > lines || fault.Column < 1 || fault.Column > len(data)+1 {
				t.Fatalf("fault outside the file: %v", fault)
			}
		}
		if c == nil {
			return
		}
		c2, faults := Parse("encoded", Encode(c))
		if len(faults) > 0 || !reflect.DeepEqual(c, c2) {
			t.Fatalf("Encode lost something: %v\n%s", faults, Encode(c))
		}
		sameAsGoTOML(t, data, c)
	})
}

func sameAsGoTOML(t *testing.T, data []byte, c *Config) {
	var d Config
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&d); err != nil {
		t.Fatalf("go-toml refuses what Parse took: %v", err)
	}
	norm := func(c *Config) *Config {
		n := *c
		n.Ports = nil
		for _, p := range c.Ports {
			p.Match = Match{} // Parse brings it to lower case
			if p.Tier == "" {
				p.Tier = TierAuto
			}
			if len(p.Address) == 0 {
				p.Address = []netip.Prefix(nil)
			}
			n.Ports = append(n.Ports, p)
		}
		if len(n.Routes) == 0 {
			n.Routes = nil
		}
		return &n
	}
	if !reflect.DeepEqual(norm(c), norm(&d)) {
		t.Fatalf("Parse: %+v\ngo-toml: %+v", norm(c), norm(&d))
	}
}
