package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"

	"github.com/vishvananda/netlink"
)

// Host is the client or the server: a namespace with one interface.
type Host struct {
	Namespace string // as `ip netns` shows it
	Interface string
	MAC       net.HardwareAddr
	Addr      [2]netip.Prefix // IPv4, IPv6
	// Gateway is the gateway's port on this side.
	Gateway     [2]netip.Addr
	GatewayMAC  net.HardwareAddr
	GatewayPort string // its label
}

// Do runs f on a thread in the host's namespace. Sockets that f opens stay in
// it; goroutines that f starts do not.
func (h *Host) Do(f func() error) error { return inNamespace(h.Namespace, f) }

// Start starts a program in the host's namespace, with its output going to
// out, if not nil; the channel gives its end. It is killed when ctx ends.
func (h *Host) Start(ctx context.Context, out io.Writer, argv ...string) (<-chan error, error) {
	p, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, fmt.Errorf("%s is not installed: run scripts/setup", argv[0])
	}
	cmd := exec.Command(p, argv[1:]...)
	if out != nil {
		cmd.Stdout, cmd.Stderr = out, out
	}
	return start(ctx, h.Namespace, cmd)
}

// Run runs a program to its end and returns what it printed.
func (h *Host) Run(ctx context.Context, argv ...string) (string, error) {
	var out bytes.Buffer
	ended, err := h.Start(ctx, &out, argv...)
	if err == nil {
		err = <-ended
	}
	if err != nil {
		return out.String(), fmt.Errorf("on the %s, %q: %w\n%s", h.role(), strings.Join(argv, " "), errors.Join(err, context.Cause(ctx)), out.String())
	}
	return out.String(), nil
}

func (h *Host) role() string { return h.Namespace[strings.LastIndexByte(h.Namespace, '-')+1:] }

func (h *Host) setSysctl(name, value string) error {
	// The kernel shows the network sysctls of the thread that opens the file.
	if err := os.WriteFile("/proc/sys/net/"+name, []byte(value), 0); err != nil {
		return fmt.Errorf("sysctl net/%s: %w", name, err)
	}
	return nil
}

// queueLen frames are two seconds of the highest rate the lab sends at.
const queueLen = 10000

// Dropped is how many frames the host's end of the wire has dropped on their
// way to the gateway: the lab's own losses.
func (h *Host) Dropped() (n uint64, err error) {
	err = h.Do(func() error {
		link, err := netlink.LinkByName(h.Interface)
		if err == nil {
			n = link.Attrs().Statistics.TxDropped
		}
		return err
	})
	return n, err
}

// configure gives the interface its addresses and routes; called in the
// namespace, with the interface already there.
func (h *Host) configure() error {
	link, err := netlink.LinkByName(h.Interface)
	if err != nil {
		return fmt.Errorf("find %s: %w", h.Interface, err)
	}
	if err := netlink.LinkSetHardwareAddr(link, h.MAC); err != nil {
		return fmt.Errorf("set the MAC of %s: %w", h.Interface, err)
	}
	// A busy machine may not run QEMU for a second. A wire does not lose frames for
	// that, so the tap, which makes its ring as long as the queue, shall not either.
	if err := netlink.LinkSetTxQLen(link, queueLen); err != nil {
		return fmt.Errorf("lengthen the queue of %s: %w", h.Interface, err)
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	// No address of the host may be tentative when the first frame leaves, and no
	// router advertisement may change its routes.
	if err := errors.Join(
		h.setSysctl("ipv6/conf/"+h.Interface+"/accept_dad", "0"),
		h.setSysctl("ipv6/conf/"+h.Interface+"/accept_ra", "0"),
		netlink.LinkSetUp(lo), netlink.LinkSetUp(link)); err != nil {
		return fmt.Errorf("bring up %s: %w", h.Interface, err)
	}
	for i, a := range h.Addr {
		n := &net.IPNet{IP: a.Addr().AsSlice(), Mask: net.CIDRMask(a.Bits(), a.Addr().BitLen())}
		if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: n}); err != nil {
			return fmt.Errorf("add %v to %s: %w", a, h.Interface, err)
		}
		all := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
		if i == 1 {
			all = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
		}
		r := &netlink.Route{
			LinkIndex: link.Attrs().Index, Gw: h.Gateway[i].AsSlice(),
			Dst: &net.IPNet{IP: all.Addr().AsSlice(), Mask: net.CIDRMask(0, all.Addr().BitLen())},
		}
		if err := netlink.RouteAdd(r); err != nil {
			return fmt.Errorf("default route via %v: %w", h.Gateway[i], err)
		}
	}
	return nil
}
