package port

import (
	"net/netip"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// ifaProto is IFA_PROTO, who made an address (since Linux 5.18,
// include/uapi/linux/if_addr.h). Older kernels ignore it.
const ifaProto = 11

// Addresses reads RTM_GETADDR itself, as the library drops IFA_PROTO.
func (Linux) Addresses() ([]Address, error) {
	return dump(func() ([]Address, error) {
		req := nl.NewNetlinkRequest(unix.RTM_GETADDR, unix.NLM_F_DUMP)
		req.AddData(nl.NewIfInfomsg(unix.AF_UNSPEC))
		msgs, err := req.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWADDR)
		if err != nil {
			return nil, err
		}
		var addrs []Address
		for _, m := range msgs {
			a, err := parseAddress(m)
			if err != nil {
				return nil, err
			}
			addrs = append(addrs, a)
		}
		return addrs, nil
	})
}

func parseAddress(m []byte) (Address, error) {
	if len(m) < unix.SizeofIfAddrmsg {
		return Address{}, unix.EBADMSG
	}
	msg := nl.DeserializeIfAddrmsg(m)
	attrs, err := nl.ParseRouteAttr(m[msg.Len():])
	if err != nil {
		return Address{}, err
	}
	a := Address{Index: int(msg.Index)}
	flags := uint32(msg.Flags)
	var local, address netip.Addr
	for _, at := range attrs {
		switch at.Attr.Type {
		case unix.IFA_LOCAL:
			local, _ = netip.AddrFromSlice(at.Value)
		case unix.IFA_ADDRESS: // the peer's if IFA_LOCAL differs
			address, _ = netip.AddrFromSlice(at.Value)
		case unix.IFA_FLAGS:
			if len(at.Value) >= 4 {
				flags = nl.NativeEndian().Uint32(at.Value)
			}
		case ifaProto:
			a.Ours = len(at.Value) > 0 && at.Value[0] == Protocol
		}
	}
	if !local.IsValid() {
		local = address
	}
	a.Prefix = netip.PrefixFrom(local, int(msg.Prefixlen))
	a.Permanent = flags&unix.IFA_F_PERMANENT != 0
	a.Tentative = flags&unix.IFA_F_TENTATIVE != 0
	a.DADFailed = flags&unix.IFA_F_DADFAILED != 0
	return a, nil
}

// AddAddress leaves duplicate address detection on (RFC 4862 section 5.4 wants
// it for every unicast address): an address that another machine has must be
// found out and not fought over. Forwarding does not wait for it.
func (Linux) AddAddress(index int, p netip.Prefix) error {
	return addressRequest(unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_EXCL|unix.NLM_F_ACK, index, p)
}

func (Linux) DelAddress(index int, p netip.Prefix) error {
	return addressRequest(unix.RTM_DELADDR, unix.NLM_F_ACK, index, p)
}

func addressRequest(typ, flags, index int, p netip.Prefix) error {
	req := nl.NewNetlinkRequest(typ, flags)
	family := unix.AF_INET6
	if p.Addr().Is4() {
		family = unix.AF_INET
	}
	msg := nl.NewIfAddrmsg(family)
	msg.Index = uint32(index)
	msg.Prefixlen = uint8(p.Bits())
	if p.Addr().IsLinkLocalUnicast() {
		msg.Scope = unix.RT_SCOPE_LINK
	}
	req.AddData(msg)
	b := p.Addr().AsSlice()
	req.AddData(nl.NewRtAttr(unix.IFA_LOCAL, b))
	req.AddData(nl.NewRtAttr(unix.IFA_ADDRESS, b))
	if typ == unix.RTM_NEWADDR {
		if p.Addr().Is4() && p.Bits() < 31 {
			req.AddData(nl.NewRtAttr(unix.IFA_BROADCAST, broadcast(p)))
		}
		req.AddData(nl.NewRtAttr(ifaProto, []byte{Protocol}))
	}
	_, err := req.Execute(unix.NETLINK_ROUTE, 0)
	return err
}

func broadcast(p netip.Prefix) []byte {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < 32; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	return b
}
