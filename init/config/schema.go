package config

import "net/netip"

// Path is where the device keeps its configuration.
const Path = "/etc/weir.toml"

// Config is one whole, valid weir.toml.
type Config struct {
	Hostname string  `toml:"hostname"`
	Ports    []Port  `toml:"port"`
	Routes   []Route `toml:"route"`
}

// Port is a [[port]] table: one Ethernet port, found by Match, known by Label.
type Port struct {
	Match Match `toml:"match"`
	// Label becomes the interface's name: 1 to 15 of [a-z0-9_.-], first a letter.
	Label string `toml:"label"`
	// MTU in bytes of layer 3; 0 leaves the driver's.
	MTU int `toml:"mtu"`
	// Tier is the highest tier that may carry the port: auto (the default), xdp,
	// afxdp, afpacket or kernel.
	Tier Tier `toml:"tier"`
	// Address holds interface addresses with their prefix length.
	Address []netip.Prefix `toml:"address"`
	// Forward switches IPv4 and IPv6 forwarding of what arrives on this port. Nil
	// means on.
	Forward *bool `toml:"forward"`
}

// Match finds a port. Exactly one field is set.
type Match struct {
	MAC string `toml:"mac"` // 52:54:00:00:00:01
	DT  string `toml:"dt"`  // device tree path of its node
	PCI string `toml:"pci"` // 0000:00:01.0
}

// Route is a [[route]] table: one static route.
type Route struct {
	To  netip.Prefix `toml:"to"`
	Via netip.Addr   `toml:"via"`
	// Port names the out port by label; needed when Via is link-local or absent.
	Port string `toml:"port"`
}

// Tier names a tier in the configuration.
type Tier string

const (
	TierAuto     Tier = "auto"
	TierXDP      Tier = "xdp"
	TierAFXDP    Tier = "afxdp"
	TierAFPacket Tier = "afpacket"
	TierKernel   Tier = "kernel"
)
