package port

import "net/netip"

// Spec is what the ports shall be. It is taken as valid: labels and matches
// are unique, addresses are unicast, each route has Via or Port.
type Spec struct {
	Ports  []Port
	Routes []Route
	// Gone names interfaces that were ports before and are not any more: they are
	// switched off and forward nothing, as if they had never been.
	Gone []string
}

// Port is one declared port.
type Port struct {
	Match Match
	// Label becomes the interface's name.
	Label string
	// MTU in bytes of layer 3; 0 leaves it as it is.
	MTU int
	// Address holds all interface addresses that the port shall have, apart from
	// those the kernel makes itself.
	Address []netip.Prefix
	// Forward lets the kernel forward what arrives on the port.
	Forward bool
}

// Match finds a port; exactly one field is set.
type Match struct {
	MAC string // lower case with colons
	DT  string // path in the device tree, from "/"
	PCI string // domain:bus:device.function in lower case, 0000:00:01.0
}

// String is the match in words.
func (m Match) String() string {
	switch {
	case m.MAC != "":
		return "MAC " + m.MAC
	case m.PCI != "":
		return "PCI address " + m.PCI
	}
	return "device-tree path " + m.DT
}

// Route is one static route. Via or Port may be left out, not both.
type Route struct {
	To   netip.Prefix
	Via  netip.Addr
	Port string // label of the out port
}

// State is a port as it was found and left.
type State struct {
	Label string
	// Kernel is the name before this Setup's first rename, empty while the port is
	// missing.
	Kernel  string
	Driver  string
	MAC     string
	MTU     int
	Address []string
	Carrier bool
	Errors  []string // what failed, each with its remedy
}

// Result is the outcome of one Apply.
type Result struct {
	Ports   []State  // one for each of Spec.Ports, in order
	Changes []string // what was changed, in words

	tentative bool // an IPv6 address is still being tested for duplicates
}
