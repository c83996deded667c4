package board

import (
	"fmt"
	"strings"
)

// Board is one supported machine.
type Board struct {
	// Name is the folder's name, and what -board takes.
	Name        string `toml:"name"`
	Description string `toml:"description"`
	// Arch is the Go and Debian word for the instruction set: arm64, or arm (Debian
	// calls its hard-float port armhf; see DebianArch).
	Arch string `toml:"arch"`
	// KernelPackage is the Debian package whose dependency names the kernel, for
	// example linux-image-arm64.
	KernelPackage string `toml:"kernel"`
	// Compatible holds the device tree's root compatible strings by which a running
	// machine knows which board it is.
	Compatible []string `toml:"compatible"`
	// Consoles are tty names below /dev. The first is the kernel's console; a shell
	// runs on each that exists.
	Consoles []string `toml:"consoles"`
	// Modules are the kernel modules that are loaded at boot, and OnDemand those
	// that are in the image for when a device or the kernel asks for them by an
	// alias. Their dependencies are added by the image builder. A name that is
	// built into the kernel is fine in either.
	Modules  []string `toml:"modules"`
	OnDemand []string `toml:"on_demand"`
	// Ports are the sockets on the case, in the order of the case.
	Ports []Port `toml:"port"`
	// QEMU says how to emulate the board; nil where QEMU cannot.
	QEMU *QEMU `toml:"qemu"`
	// DefaultConfig is the bytes of the board's weir.toml.
	DefaultConfig []byte `toml:"-"`
}

// Port is one Ethernet port and the label printed beside it.
type Port struct {
	Label string `toml:"label"`
	Match Match  `toml:"match"`
}

// Match finds a port. Exactly one field is set; the words are those of weir.toml.
type Match struct {
	MAC string `toml:"mac"` // 52:54:00:00:00:01
	DT  string `toml:"dt"`  // device tree path of its node
	PCI string `toml:"pci"` // 0000:00:01.0
}

// QEMU is the emulated machine.
type QEMU struct {
	Machine  string `toml:"machine"` // -machine, with its options
	CPU      string `toml:"cpu"`
	SMP      int    `toml:"smp"`
	MemoryMB int    `toml:"memory_mb"`
	// Append is the kernel command line.
	Append string `toml:"append"`
	// Args are further arguments for QEMU, one string each.
	Args []string `toml:"args"`
}

// DebianArch is Debian's name of the board's architecture.
func (b *Board) DebianArch() string {
	if b.Arch == "arm" {
		return "armhf"
	}
	return b.Arch
}

// Lookup finds a board by name. The error of an unknown name lists the known ones.
func Lookup(name string) (*Board, error) {
	var known []string
	for _, b := range All() {
		if b.Name == name {
			return b, nil
		}
		known = append(known, b.Name)
	}
	return nil, fmt.Errorf("unknown board %q: choose one of %s", name, strings.Join(known, ", "))
}
