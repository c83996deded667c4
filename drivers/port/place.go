package port

import (
	"os"
	"path/filepath"
	"strings"
)

// place reads from sysfs where the device of an interface sits. An interface's
// directory lies below its device's: .../0000:00:03.0/virtio2/net/eth0. The
// nearest PCI function above it is its place, and the nearest node of the
// device tree, which is the interface's own where the driver has several ports
// on one device (mvpp2).
func place(sys, name string) Place {
	dir, err := filepath.EvalSymlinks(filepath.Join(sys, "class/net", name))
	if err != nil {
		return Place{}
	}
	root, err := filepath.EvalSymlinks(filepath.Join(sys, "devices"))
	if err != nil {
		return Place{}
	}
	var p Place
	if driver, err := os.Readlink(filepath.Join(dir, "device/driver")); err == nil {
		p.Driver = filepath.Base(driver)
	}
	for d := dir; len(d) > len(root); d = filepath.Dir(d) {
		if p.PCI == "" && pciAddress(filepath.Base(d)) {
			p.PCI = filepath.Base(d)
		}
		if p.DT == "" {
			if node, err := os.Readlink(filepath.Join(d, "of_node")); err == nil {
				if _, path, ok := strings.Cut(node, "/devicetree/base"); ok {
					p.DT = path
				}
			}
		}
	}
	return p
}

// pciAddress tells names such as 0000:00:03.0 from those of other devices.
func pciAddress(s string) bool {
	const hex = "0123456789abcdef"
	rest, fn, ok := strings.Cut(s, ".")
	parts := strings.Split(rest, ":")
	if !ok || len(fn) != 1 || len(parts) != 3 || len(parts[0]) < 4 || len(parts[1]) != 2 || len(parts[2]) != 2 {
		return false
	}
	return strings.Trim(parts[0]+parts[1]+parts[2]+fn, hex) == ""
}
