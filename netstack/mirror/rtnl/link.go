package rtnl

import (
	"golang.org/x/sys/unix"

	"weir/netstack/mirror/nl"
)

// Link is one network interface.
type Link struct {
	Index uint32
	Name  string
	MAC   [6]byte
	MTU   uint32
	// Flags are IFF_UP, IFF_RUNNING, IFF_LOWER_UP, IFF_NOARP…
	Flags uint32
	// Type is the ARPHRD_ number; unix.ARPHRD_ETHER for a port.
	Type uint16
	// Master is the index of the bridge, bond or VRF it belongs to, 0: none.
	Master uint32
	// Lower is the index of the interface it sits on, 0: none. LowerElsewhere
	// says that this index belongs to another network namespace (the other end
	// of a veth pair).
	Lower          uint32
	LowerElsewhere bool
	// Kind is the driver's name of a virtual interface ("vlan", "macvlan"…).
	Kind string
	// Conf4 and Conf6 are the interface's settings in the order of IPV4_DEVCONF_*
	// less one (include/uapi/linux/ip.h) and DEVCONF_* (ipv6.h), aliasing the
	// message; nil without that protocol.
	Conf4, Conf6 []byte
}

// Up: the interface is switched on and has a carrier. An operational state that
// the driver does not know counts as up (Documentation/networking/operstates.rst:
// IFF_RUNNING is set for UNKNOWN too).
func (l *Link) Up() bool {
	const want = unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_LOWER_UP
	return l.Flags&want == want
}

// ParseLink decodes the body of RTM_NEWLINK or RTM_DELLINK (struct ifinfomsg: u8
// family, padding, u16 type, s32 index, u32 flags, u32 change).
func ParseLink(b []byte) (l Link, ok bool) {
	if len(b) < unix.SizeofIfInfomsg || b[0] != unix.AF_UNSPEC {
		return l, false // AF_BRIDGE and AF_INET6 messages tell of something else
	}
	l.Type = nl.U16(b[2:])
	l.Index = nl.U32(b[4:])
	l.Flags = nl.U32(b[8:])
	at := nl.Attributes(b[unix.SizeofIfInfomsg:])
	for {
		typ, v, more := at.Next()
		if !more {
			break
		}
		switch typ {
		case unix.IFLA_IFNAME:
			l.Name = nl.Text(v)
		case unix.IFLA_ADDRESS:
			if len(v) == 6 {
				l.MAC = [6]byte(v)
			}
		case unix.IFLA_MTU:
			l.MTU = nl.U32(v)
		case unix.IFLA_MASTER:
			l.Master = nl.U32(v)
		case unix.IFLA_LINK:
			l.Lower = nl.U32(v)
		case unix.IFLA_LINK_NETNSID:
			l.LowerElsewhere = true
		case unix.IFLA_LINKINFO:
			if k, ok := nl.Find(v, unix.IFLA_INFO_KIND); ok {
				l.Kind = nl.Text(k)
			}
		case unix.IFLA_AF_SPEC:
			if f, ok := nl.Find(v, unix.AF_INET); ok {
				l.Conf4, _ = nl.Find(f, unix.IFLA_INET_CONF)
			}
			if f, ok := nl.Find(v, unix.AF_INET6); ok {
				l.Conf6, _ = nl.Find(f, unix.IFLA_INET6_CONF)
			}
		}
	}
	return l, !at.Bad() && l.Index != 0
}
