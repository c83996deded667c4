package port_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/drivers/port"
	"weir/drivers/port/porttest"
)

// machine has one of each thing that a match could confuse.
func machine() *porttest.Kernel {
	k := porttest.New()
	k.Add(port.Link{Name: "eth0", MAC: "02:00:00:00:00:99", PermMAC: "52:54:00:00:00:01"}, port.Place{PCI: "0000:00:01.0"})
	k.Add(port.Link{Name: "lan1", MAC: "52:54:00:00:00:01", Kind: "dsa"}, port.Place{DT: "/soc/switch/ports/port@1"}) // wears its conduit's MAC
	k.Add(port.Link{Name: "lan2", MAC: "52:54:00:00:00:01", Kind: "dsa"}, port.Place{DT: "/soc/switch/ports/port@2"})
	k.Add(port.Link{Name: "eth0.5", MAC: "52:54:00:00:00:02", Kind: "vlan"}, port.Place{})
	k.Add(port.Link{Name: "eth1", MAC: "52:54:00:00:00:02"}, port.Place{PCI: "0000:00:02.0"})
	k.Add(port.Link{Name: "twin0", MAC: "52:54:00:00:00:03"}, port.Place{PCI: "0000:00:03.0"})
	k.Add(port.Link{Name: "twin1", MAC: "52:54:00:00:00:03"}, port.Place{PCI: "0000:00:03.0"})
	return k
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		match port.Match
		want  string // kernel name, or words of the error
	}{
		{port.Match{MAC: "52:54:00:00:00:01"}, "eth0"}, // by its burnt-in address, though it wears another
		{port.Match{MAC: "02:00:00:00:00:99"}, "eth0"},
		{port.Match{MAC: "52:54:00:00:00:02"}, "eth1"}, // not the VLAN on top
		{port.Match{PCI: "0000:00:02.0"}, "eth1"},
		{port.Match{DT: "/soc/switch/ports/port@2"}, "lan2"},
		{port.Match{MAC: "52:54:00:00:00:03"}, "twin0, twin1 all have MAC 52:54:00:00:00:03"},
		{port.Match{PCI: "0000:00:03.0"}, "match the port in another way"},
		{port.Match{PCI: "0000:00:04.0"}, "no interface has PCI address 0000:00:04.0"},
		{port.Match{DT: "/nowhere"}, "no interface has device-tree path /nowhere"},
		{port.Match{MAC: "52:54:00:00:00:09"}, "eth1 (52:54:00:00:00:02, 0000:00:02.0)"},
		{port.Match{MAC: "00:00:00:00:00:00"}, "no interface"}, // never the loopback
	} {
		res, err := port.New(machine()).Apply(context.Background(), port.Spec{Ports: []port.Port{{Label: "p", Match: tt.match}}})
		got := res.Ports[0].Kernel
		if err != nil {
			got = err.Error()
		}
		if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
			t.Errorf("%v: got %s, want %s", tt.match, got, tt.want)
		}
	}
}

func TestOneInterfaceTwoPorts(t *testing.T) {
	res, err := port.New(machine()).Apply(context.Background(), port.Spec{Ports: []port.Port{
		{Label: "a", Match: port.Match{PCI: "0000:00:02.0"}},
		{Label: "b", Match: port.Match{MAC: "52:54:00:00:00:02"}},
	}})
	only(t, res, err, "b", "same interface as that of port a")
}

// Sysfs as the kernel lays it out: a virtio device on PCI, two mvpp2 ports that
// are one platform device, a virtio-mmio device, and a link without a device.
func TestPlace(t *testing.T) {
	sys := t.TempDir()
	dt := filepath.Join(sys, "firmware/devicetree/base")
	link := func(target, at string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(sys, at)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(sys, at)); err != nil {
			t.Fatal(err)
		}
	}
	iface := func(name, device, driver string) {
		t.Helper()
		dir := filepath.Join(sys, "devices", device, "net", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		link(dir, "class/net/"+name)
		if driver != "" {
			link("../..", "devices/"+device+"/net/"+name+"/device")
			if _, err := os.Lstat(filepath.Join(sys, "devices", device, "driver")); err != nil {
				link("../bus/drivers/"+driver, "devices/"+device+"/driver")
			}
		}
	}
	iface("eth0", "pci0000:00/0000:00:03.0/virtio2", "virtio_net")
	link(filepath.Join(dt, "pcie@10000000"), "devices/pci0000:00/of_node")
	iface("eth1", "platform/cp0/f2000000.ethernet", "mvpp2")
	iface("eth2", "platform/cp0/f2000000.ethernet", "mvpp2")
	link(filepath.Join(dt, "cp0/ethernet@0"), "devices/platform/cp0/f2000000.ethernet/of_node")
	link(filepath.Join(dt, "cp0/ethernet@0/eth1"), "devices/platform/cp0/f2000000.ethernet/net/eth1/of_node")
	link(filepath.Join(dt, "cp0/ethernet@0/eth2"), "devices/platform/cp0/f2000000.ethernet/net/eth2/of_node")
	iface("eth3", "platform/a003e00.virtio_mmio/virtio0", "virtio_net")
	link(filepath.Join(dt, "virtio_mmio@a003e00"), "devices/platform/a003e00.virtio_mmio/of_node")
	iface("dummy0", "virtual", "")
	for name, want := range map[string]port.Place{
		"eth0":    {Driver: "virtio_net", PCI: "0000:00:03.0", DT: "/pcie@10000000"},
		"eth1":    {Driver: "mvpp2", DT: "/cp0/ethernet@0/eth1"},
		"eth2":    {Driver: "mvpp2", DT: "/cp0/ethernet@0/eth2"},
		"eth3":    {Driver: "virtio_net", DT: "/virtio_mmio@a003e00"},
		"dummy0":  {},
		"missing": {},
	} {
		if got := port.PlaceIn(sys, name); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}
