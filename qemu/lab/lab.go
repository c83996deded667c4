package lab

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"weir/qemu/machine"
)

// Config shapes the lab.
type Config struct {
	// Queues of each of the gateway's ports; 0 means 1.
	Queues int
	// NoTap uses the relay even where a tap could be had.
	NoTap bool
}

// Lab is the two hosts and the wires.
type Lab struct {
	Client, Server *Host
	// Relayed is set when the wires are relays, because of Why.
	Relayed bool
	Why     string

	nics   []machine.NIC
	files  []*os.File
	relays []*relay
	made   []string // namespaces
}

// hosts gives the two hosts addresses in the networks of the QEMU boards'
// default configuration, so that an image without configuration routes too.
func hosts() (client, server *Host) {
	client = &Host{
		Namespace: fmt.Sprintf("weir-%d-client", os.Getpid()), Interface: "eth0",
		MAC:        net.HardwareAddr{0x52, 0x54, 0, 0, 2, 1},
		Addr:       [2]netip.Prefix{netip.MustParsePrefix("192.168.1.2/24"), netip.MustParsePrefix("fd00:1::2/64")},
		Gateway:    [2]netip.Addr{netip.MustParseAddr("192.168.1.1"), netip.MustParseAddr("fd00:1::1")},
		GatewayMAC: net.HardwareAddr{0x52, 0x54, 0, 0, 1, 1}, GatewayPort: "lan",
	}
	server = &Host{
		Namespace: fmt.Sprintf("weir-%d-server", os.Getpid()), Interface: "eth0",
		MAC:        net.HardwareAddr{0x52, 0x54, 0, 0, 2, 2},
		Addr:       [2]netip.Prefix{netip.MustParsePrefix("192.0.2.2/24"), netip.MustParsePrefix("2001:db8:2::2/64")},
		Gateway:    [2]netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8:2::1")},
		GatewayMAC: net.HardwareAddr{0x52, 0x54, 0, 0, 1, 2}, GatewayPort: "wan",
	}
	return client, server
}

// New makes the lab. A process has one at a time.
func New(cfg Config) (l *Lab, err error) {
	if Entered() {
		if err := privateRun(); err != nil {
			return nil, err
		}
	}
	if err := sweep(); err != nil {
		return nil, fmt.Errorf("remove the namespaces of labs that died: %w", err)
	}
	l = &Lab{}
	l.Client, l.Server = hosts()
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
			l = nil
		}
	}()
	for _, h := range []*Host{l.Client, l.Server} {
		if err := addNamespace(h.Namespace); err != nil {
			return l, err
		}
		l.made = append(l.made, h.Namespace)
		if err := h.Do(func() error { return l.wire(h, cfg) }); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (l *Lab) wire(h *Host, cfg Config) error {
	nic := machine.NIC{MAC: h.GatewayMAC.String()}
	var err error
	if cfg.NoTap {
		err = fmt.Errorf("%w: relays were asked for", errNoTap)
	} else {
		nic.Taps, err = openTap(h.Interface, max(1, cfg.Queues))
	}
	if errors.Is(err, errNoTap) {
		l.Relayed, l.Why = true, err.Error()
		var r *relay
		if r, nic.Datagram, err = newRelay(h.Interface); err == nil {
			l.relays = append(l.relays, r)
			l.files = append(l.files, nic.Datagram)
		}
	}
	if err != nil {
		return err
	}
	l.files = append(l.files, nic.Taps...)
	l.nics = append(l.nics, nic)
	return h.configure()
}

// NICs are the gateway's ports: lan, then wan.
func (l *Lab) NICs() []machine.NIC { return l.nics }

// Queues is the number of queues each port of the gateway has.
func (l *Lab) Queues() int { return l.nics[0].Queues() }

// Close removes everything. Programs that still run in the namespaces keep
// them alive until they end, so end those first.
func (l *Lab) Close() error {
	var errs []error
	for _, f := range l.files {
		f.Close()
	}
	for _, r := range l.relays {
		r.close()
	}
	for _, n := range l.made {
		errs = append(errs, deleteNamespace(n))
	}
	l.files, l.relays, l.made = nil, nil, nil
	return errors.Join(errs...)
}
