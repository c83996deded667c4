package config

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"match", "label", "mtu", "tier", "address", "forward"}
	for word, want := range map[string]string{
		"adress": "address", "Address": "address", "addresses": "address", "lable": "label", "name": "label",
		"mut": "mtu", "mtus": "mtu", "forwarding": "forward", "teir": "tier",
		"colour": "", "x": "", "": "", "mt": "mtu", "via": "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "axc", 1}, {"abc", "xabc", 1}, {"ab", "ba", 1}, {"abcd", "badc", 2}, {"abcdef", "a", 3}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q to %q: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func port(i int) string {
	return fmt.Sprintf("[[port]]\nmatch = { mac = \"52:54:00:00:00:%02x\" }\nlabel = \"p%d\"\naddress = [\"10.%d.0.1/24\"]\n", i, i, i)
}

func TestLimits(t *testing.T) {
	var most strings.Builder
	for i := range MaxPorts {
		most.WriteString(port(i))
	}
	if _, faults := Parse("f", []byte(most.String())); faults != nil {
		t.Error(faults)
	}
	_, faults := Parse("f", []byte(most.String()+port(MaxPorts)))
	if len(faults) != 1 || faults[0].Line != 4*MaxPorts+1 || faults[0].Key != "port[64]" {
		t.Errorf("a port too many: %v", faults)
	}
	long := append([]byte(most.String()), bytes.Repeat([]byte("#"), MaxSize-most.Len())...)
	if _, faults := Parse("f", long); faults != nil {
		t.Error(faults)
	}
	if _, faults := Parse("f", append(long, '#')); len(faults) != 1 || !strings.Contains(faults.Error(), "262145 bytes") {
		t.Errorf("a byte too many: %v", faults)
	}
	// As deep and as much as a file can have it, in reasonable time.
	for _, hostile := range []string{
		strings.Repeat("[", MaxSize/2), "a = " + strings.Repeat("[", MaxSize/2), "a = " + strings.Repeat("{a=", MaxSize/4),
		strings.Repeat("a.", MaxSize/3) + "a = 1", strings.Repeat("x=1\n", MaxSize/4), strings.Repeat("[[route]]\n", MaxSize/10),
	} {
		if c, faults := Parse("f", []byte(hostile)); c != nil || len(faults) == 0 {
			t.Errorf("%.20s…: no fault", hostile)
		}
	}
}

// A fault of one value does not make others look faulty.
func TestNoEchoes(t *testing.T) {
	for name, tt := range map[string]string{
		"bad address": `[[port]]
match = { mac = "52:54:00:00:00:01" }
label = "wan"
address = ["203.0.113.2"]
[[route]]
to = "0.0.0.0/0"
via = "203.0.113.1"
`,
		"bad label": `[[port]]
match = { mac = "52:54:00:00:00:01" }
label = "WAN"
[[route]]
to = "0.0.0.0/0"
port = "WAN"
`,
		"bad via": `[[port]]
match = { mac = "52:54:00:00:00:01" }
label = "wan"
[[route]]
to = "0.0.0.0/0"
via = "203.0.113"
`,
		"bad port of a route": `[[port]]
match = { mac = "52:54:00:00:00:01" }
label = "wan"
[[route]]
to = "0.0.0.0/0"
port = 7
via = "203.0.113.1"
`,
		"bad match": `[[port]]
match = "52:54:00:00:00:01"
label = "wan"
`,
		"misspelt match": `[[port]]
match = { mack = "52:54:00:00:00:01" }
label = "wan"
`,
	} {
		if _, faults := Parse(name, []byte(tt)); len(faults) != 1 {
			t.Errorf("%d faults:\n%v", len(faults), faults)
		}
	}
}

func TestRouteByPort(t *testing.T) {
	const head = `[[port]]
match = { mac = "52:54:00:00:00:01" }
label = "lan"
address = ["192.168.1.1/24", "fe80::1/64", "10.0.0.1/31", "10.1.1.1/32"]
[[port]]
match = { mac = "52:54:00:00:00:02" }
label = "wan"
address = ["203.0.113.2/24", "fe80::1/64"]
[[route]]
`
	for route, want := range map[string]string{
		"to = \"10.9.0.0/16\"\nvia = \"192.168.1.255\"":               "broadcast address",
		"to = \"10.9.0.0/16\"\nvia = \"192.168.1.0\"":                 "network or broadcast",
		"to = \"10.9.0.0/16\"\nvia = \"10.0.0.0\"":                    "", // a /31 has neither
		"to = \"10.9.0.0/16\"\nvia = \"10.1.1.1\"":                    "own address",
		"to = \"10.9.0.0/16\"\nvia = \"203.0.113.1\"\nport = \"wan\"": "",
		"to = \"10.9.0.0/16\"\nvia = \"172.16.0.1\"\nport = \"wan\"":  "", // outside its networks, as named
		"to = \"10.9.0.0/16\"\nvia = \"172.16.0.1\"":                  "in no port's network",
		"to = \"10.9.0.0/16\"\nport = \"wan\"":                        "",
		"to = \"2001:db8::/32\"\nvia = \"fe80::2\"\nport = \"wan\"":   "",
		"to = \"2001:db8::/32\"\nvia = \"fe80::1\"\nport = \"wan\"":   "own address",
		"to = \"2001:db8::/32\"\nvia = \"fe80::2\"":                   "every port has such a network",
		"to = \"2001:db8::/32\"\nvia = \"fe80::2%wan\"":               `write via = "fe80::2" and port = "wan"`,
		"to = \"10.9.0.0/16\"\nvia = \"10.0.0.0/8\"":                  "is a network",
		"to = \"10.9.0.0/16\"\nvia = \"255.255.255.255\"":             "broadcast address",
		"to = \"10.9.0.0/16\"\nvia = \"::ffff:203.0.113.1\"":          "write 203.0.113.1",
		"to = \"203.0.113.0/24\"\nvia = \"192.168.1.9\"":              "is the network of port \"wan\"",
		"to = \"203.0.113.0/25\"\nvia = \"192.168.1.9\"":              "", // narrower: a choice
		"to = \"127.0.0.0/8\"\nport = \"wan\"":                        "never routed",
		"to = \"128.0.0.0/1\"\nport = \"wan\"":                        "",
		"to = \"ff00::/8\"\nport = \"wan\"":                           "never routed",
		"to = \"::1/128\"\nport = \"wan\"":                            "never routed",
		"to = \"169.254.0.0/16\"\nport = \"wan\"":                     "", // Linux forwards it
		"to = \"10.9.0.0\"\nport = \"wan\"":                           "lacks its prefix length",
		"to = \"\"\nport = \"wan\"":                                   "not an IP address",
	} {
		c, faults := Parse("f", []byte(head+route+"\n"))
		switch {
		case want == "" && c == nil:
			t.Errorf("%s: %v", route, faults)
		case want != "" && (len(faults) != 1 || !strings.Contains(faults.Error(), want)):
			t.Errorf("%s: want %q, got %v", route, want, faults)
		}
	}
}

func TestHostname(t *testing.T) {
	ok := []string{"gw", "GW-1", "a.b.c", "0", strings.Repeat("a", 63), strings.Repeat("a", 32) + "." + strings.Repeat("b", 31)}
	bad := []string{"", ".", "a.", ".a", "a..b", "-a", "a-", "a_b", "a b", "gü", strings.Repeat("a", 64), strings.Repeat("a.", 33) + "a"}
	for i, names := range [][]string{ok, bad} {
		for _, n := range names {
			if _, faults := Parse("f", []byte(fmt.Sprintf("hostname = %q\n%s", n, port(1)))); (len(faults) > 0) != (i == 1) {
				t.Errorf("%q: %v", n, faults)
			}
		}
	}
}

// Numbers as TOML has them, and no others: strconv alone would take 01500 for
// octal, and 0X5DC.
func TestNumbers(t *testing.T) {
	for number, want := range map[string]int{
		"1500": 1500, "1_500": 1500, "+1500": 1500, "0x5DC": 1500, "0o2734": 1500, "0b10111011100": 1500,
		"01500": 0, "1__500": 0, "0X5DC": 0, "_1500": 0, "1500_": 0, "+0x5DC": 0, "0x_5DC": 0, "1.5e3": 0, "1500.0": 0, "-0": 0, "inf": 0,
	} {
		c, faults := Parse("f", []byte("[[port]]\nmatch = { mac = \"52:54:00:00:00:01\" }\nlabel = \"wan\"\nmtu = "+number+"\n"))
		switch {
		case want == 0 && (c != nil || len(faults) != 1 || faults[0].Line != 4):
			t.Errorf("%s: %+v %v", number, c, faults)
		case want != 0 && (c == nil || c.Ports[0].MTU != want):
			t.Errorf("%s: %+v %v", number, c, faults)
		}
	}
}

func TestLabels(t *testing.T) {
	for label, ok := range map[string]bool{
		"a": true, "fifteen-letters": true, "sixteen-letters-": false, "a.b_c-1": true, "z9": true, "alla": true, "lo0": true,
		"": false, "1a": false, ".a": false, "-a": false, "_a": false, "A": false, "aB": false, "a/b": false, "a b": false, "a%d": false,
		"a:1": false, "ä": false, "all": false, "default": false, "lo": false, "a\\u0000": false,
	} {
		_, faults := Parse("f", []byte("[[port]]\nmatch = { mac = \"52:54:00:00:00:01\" }\nlabel = \""+label+"\"\n"))
		if (len(faults) == 0) != ok {
			t.Errorf("%q: %v", label, faults)
		}
	}
}
