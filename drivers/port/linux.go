package port

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

func init() {
	// Drivers say in words why they refuse something; let the errors carry it.
	nl.EnableErrorMessageReporting = true
}

// Linux is the real kernel. The zero value is ready; it holds nothing open, so
// that each call concerns the namespace of the thread it is made on.
type Linux struct{}

// dump repeats a listing that changed while it was made.
func dump[T any](f func() (T, error)) (v T, err error) {
	for range 10 {
		if v, err = f(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	return v, err
}

// Links reads the links from RTM_GETLINK itself: the library drops the driver's
// MTU limit, and asks for more than is needed.
func (Linux) Links() ([]Link, error) {
	return dump(func() ([]Link, error) {
		req := nl.NewNetlinkRequest(unix.RTM_GETLINK, unix.NLM_F_DUMP)
		req.AddData(nl.NewIfInfomsg(unix.AF_UNSPEC))
		msgs, err := req.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWLINK)
		if err != nil {
			return nil, err
		}
		var links []Link
		for _, m := range msgs {
			l, err := parseLink(m)
			if err != nil {
				return nil, err
			}
			links = append(links, l)
		}
		return links, nil
	})
}

func parseLink(m []byte) (Link, error) {
	if len(m) < unix.SizeofIfInfomsg {
		return Link{}, unix.EBADMSG
	}
	msg := nl.DeserializeIfInfomsg(m)
	attrs, err := nl.ParseRouteAttr(m[msg.Len():])
	if err != nil {
		return Link{}, err
	}
	l := Link{Index: int(msg.Index), Up: msg.Flags&unix.IFF_UP != 0}
	for _, a := range attrs {
		v := a.Value
		switch a.Attr.Type &^ unix.NLA_F_NESTED {
		case unix.IFLA_IFNAME:
			l.Name = unix.ByteSliceToString(v)
		case unix.IFLA_ADDRESS:
			l.MAC = net.HardwareAddr(v).String()
		case unix.IFLA_PERM_ADDRESS:
			if !allZero(v) { // a driver that knows none says zero
				l.PermMAC = net.HardwareAddr(v).String()
			}
		case unix.IFLA_MTU:
			l.MTU = number(v)
		case unix.IFLA_MAX_MTU:
			l.MaxMTU = number(v)
		case unix.IFLA_OPERSTATE:
			if len(v) > 0 {
				l.Oper = v[0]
			}
		case unix.IFLA_LINKINFO:
			l.Kind = unix.ByteSliceToString(nested(v, unix.IFLA_INFO_KIND))
		case unix.IFLA_XDP:
			att := nested(v, unix.IFLA_XDP_ATTACHED)
			l.XDP = len(att) > 0 && att[0] != 0
		}
	}
	return l, nil
}

func number(v []byte) int {
	if len(v) < 4 {
		return 0
	}
	// Some drivers allow "any" MTU: 0xffffffff does not fit a 32-bit int.
	return int(min(nl.NativeEndian().Uint32(v), 1<<30))
}

func nested(v []byte, typ uint16) []byte {
	attrs, err := nl.ParseRouteAttr(v)
	if err != nil {
		return nil
	}
	for _, a := range attrs {
		if a.Attr.Type == typ {
			return a.Value
		}
	}
	return nil
}

func allZero(v []byte) bool {
	for _, b := range v {
		if b != 0 {
			return false
		}
	}
	return true
}

func link(index int) netlink.Link {
	return &netlink.Device{LinkAttrs: netlink.LinkAttrs{Index: index}}
}

func (Linux) Rename(index int, name string) error { return netlink.LinkSetName(link(index), name) }
func (Linux) SetMTU(index, mtu int) error         { return netlink.LinkSetMTU(link(index), mtu) }

func (Linux) SetUp(index int, up bool) error {
	if up {
		return netlink.LinkSetUp(link(index))
	}
	return netlink.LinkSetDown(link(index))
}

const procSysNet = "/proc/sys/net/"

func (Linux) Sysctl(name string) (string, error) {
	b, err := os.ReadFile(procSysNet + name)
	return strings.TrimSpace(string(b)), err
}

func (Linux) SetSysctl(name, value string) error {
	f, err := os.OpenFile(procSysNet+name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

func (Linux) Place(name string) Place { return place("/sys", name) }

func ipnet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

func prefix(n *net.IPNet) netip.Prefix {
	if n == nil {
		return netip.Prefix{}
	}
	a, _ := netip.AddrFromSlice(n.IP)
	ones, bits := n.Mask.Size()
	if bits == 32 { // the library gives the default route 16 bytes
		a = a.Unmap()
	}
	return netip.PrefixFrom(a, ones)
}
