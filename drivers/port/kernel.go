package port

import (
	"context"
	"net/netip"
)

// Protocol is the number that Weir's static routes, rules and addresses carry
// in the kernel, so that it removes only its own: 'W'. It is free in
// /etc/iproute2/rt_protos and include/uapi/linux/rtnetlink.h.
const Protocol = 'W'

// Kernel is what Setup asks of the kernel. Its errors wrap the errno; a dump
// that the kernel says was disturbed is repeated inside. All calls concern the
// network namespace of the calling thread.
type Kernel interface {
	Links() ([]Link, error)
	// Rename gives a link another name; EBUSY means that it must be down for it.
	Rename(index int, name string) error
	SetMTU(index, mtu int) error
	SetUp(index int, up bool) error

	Addresses() ([]Address, error)
	// AddAddress adds an address of Weir's, in IPv4 with the broadcast address of
	// its network if that has one (RFC 3021).
	AddAddress(index int, a netip.Prefix) error
	DelAddress(index int, a netip.Prefix) error

	// Routes lists the routes of the main table that carry Protocol.
	Routes() ([]KernelRoute, error)
	// AddRoute adds a route; with replace it takes the place of Weir's route to
	// the same prefix.
	AddRoute(r KernelRoute, replace bool) error
	DelRoute(r KernelRoute) error

	// Blocks lists the interfaces whose IPv6 packets a rule of Weir's keeps from
	// being forwarded.
	Blocks() ([]string, error)
	Block(name string) error
	Unblock(name string) error

	// Sysctl reads /proc/sys/net/NAME; fs.ErrNotExist if the kernel lacks it.
	Sysctl(name string) (string, error)
	SetSysctl(name, value string) error

	// Place says where an interface's device sits; what is unknown is empty.
	Place(name string) Place

	// Subscribe signals that links changed; changes in quick succession may come
	// as one. The channel is closed when ctx ends or events can no longer be had.
	Subscribe(ctx context.Context) (<-chan struct{}, error)
}

// Link is a network interface.
type Link struct {
	Index int
	Name  string
	MAC   string // lower case with colons
	// PermMAC is the address burnt into the device, empty if the driver tells none.
	PermMAC string
	MTU     int
	MaxMTU  int // the driver's limit, 0 if unknown
	Up      bool
	Oper    uint8  // RFC 2863 state, the kernel's IF_OPER_*
	Kind    string // "veth", "vlan", …; empty for a device with a driver
	XDP     bool   // an XDP program is attached
}

// The kernel's IF_OPER_* that matter (include/uapi/linux/if.h).
const (
	OperUnknown = 0
	OperDown    = 2
	OperUp      = 6
)

// Carrier says whether the link can carry traffic. A driver that never sets the
// operational state is at OperUnknown, which counts as up
// (Documentation/networking/operstates.rst).
func (l Link) Carrier() bool {
	return l.Up && (l.Oper == OperUp || l.Oper == OperUnknown)
}

// Address is an interface address.
type Address struct {
	Index     int
	Prefix    netip.Prefix
	Permanent bool // without lifetime
	Tentative bool // IPv6: not yet usable
	DADFailed bool // IPv6: another machine on the link has it
	Ours      bool // carries Protocol (kernels before 5.18 cannot tell)
}

// KernelRoute is a static route as the kernel has it.
type KernelRoute struct {
	To     netip.Prefix
	Via    netip.Addr // invalid: on the link itself
	Index  int
	OnLink bool // Via is on the link though no address's network says so
}

// Place is where a device sits.
type Place struct {
	Driver string
	PCI    string
	DT     string
}
