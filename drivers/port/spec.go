package port

import "net/netip"

// Spec is what the ports shall be.
type Spec struct {
	Ports  []Port
	Routes []Route
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
	DT  string // device tree path from "/"
	PCI string // 0000:00:01.0
}

// Route is one static route. Via or Port may be left out, not both.
type Route struct {
	To   netip.Prefix
	Via  netip.Addr
	Port string // label of the out port
}

// State is a port as it was found and left.
type State struct {
	Label   string
	Kernel  string // the name before the rename, empty if the port was not found
	Driver  string
	MAC     string
	MTU     int
	Address []string
	Carrier bool
	Errors  []string
}

// Result is the outcome of one Apply.
type Result struct {
	Ports   []State  // one for each of Spec.Ports, in order
	Changes []string // what was changed, in words
}
