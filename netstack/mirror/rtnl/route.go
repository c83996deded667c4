package rtnl

import (
	"encoding/binary"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/nl"
)

// Odd names what makes a route more than "this prefix, that gateway": any bit
// leaves the prefix to the kernel.
type Odd uint16

const (
	OddMultipath Odd = 1 << iota // RTA_MULTIPATH: several next hops
	OddNextHop                   // RTA_NH_ID alone: a next hop object that is told of elsewhere
	OddEncap                     // RTA_ENCAP: lightweight tunnel
	OddSource                    // a source prefix too (IPv6 subtrees)
	OddInput                     // RTA_IIF: bound to an input interface
	OddLabel                     // RTA_NEWDST: MPLS
	OddFlags                     // RTNH_F_DEAD, RTNH_F_PERVASIVE, RTNH_F_UNRESOLVED
	OddMetrics                   // metrics that change a forwarded packet's fate in ways not expressed here
	OddExpires                   // the route is about to end (router advertisement)
	OddUnknown                   // an attribute this decoder does not know
)

// Via is what a route does with a packet, comparable and shared by many routes.
type Via struct {
	Type byte   // unix.RTN_UNICAST, RTN_LOCAL…
	OIF  uint32 // out interface, 0: none
	// Gateway is the next router, of either family; invalid: the destination
	// itself is on the link.
	Gateway netip.Addr
	// MTU is RTAX_MTU, 0: none. Locked says that the route's MTU is locked.
	MTU    uint32
	Locked bool
	// Realm: the route has a realm (RTA_FLOW), which makes the kernel look every
	// packet's source up (fib_num_tclassid_users, IPv4).
	Realm bool
	// Pref is the router preference of RFC 4191 (IPv6).
	Pref byte
	Odd  Odd
}

// Route is one entry of a routing table.
type Route struct {
	Table uint32
	Dst   netip.Prefix
	// TOS is IPv4's; a route with one serves only packets that carry it.
	TOS      byte
	Protocol byte // unix.RTPROT_KERNEL…
	Metric   uint32
	Via      Via
	// Lifetime is how long the kernel keeps the route (IPv6, from router
	// advertisements), 0: for ever.
	Lifetime time.Duration
}

// rtmsg, include/uapi/linux/rtnetlink.h: family, dst_len, src_len, tos, table,
// protocol, scope, type (u8 each), flags (u32).
const sizeofRtmsg = unix.SizeofRtMsg

// rtaNHID is RTA_NH_ID, which x/sys does not name.
const rtaNHID = 30

// ParseRoute decodes the body of RTM_NEWROUTE or RTM_DELROUTE. ok is false for
// what is no entry of an IPv4 or IPv6 table: other families, per-destination
// clones (RTM_F_CLONED), and bytes that do not parse.
func ParseRoute(b []byte) (r Route, ok bool) {
	if len(b) < sizeofRtmsg {
		return r, false
	}
	family, dstLen, srcLen := b[0], int(b[1]), b[2]
	r.TOS, r.Table, r.Protocol = b[3], uint32(b[4]), b[5]
	r.Via.Type = b[7]
	flags := binary.NativeEndian.Uint32(b[8:])
	if flags&unix.RTM_F_CLONED != 0 {
		return r, false
	}
	if flags&(unix.RTNH_F_DEAD|unix.RTNH_F_PERVASIVE|unix.RTNH_F_UNRESOLVED) != 0 {
		r.Via.Odd |= OddFlags
	}
	if srcLen != 0 {
		r.Via.Odd |= OddSource
	}
	var dst netip.Addr
	object := false
	switch family {
	case unix.AF_INET:
		dst = netip.IPv4Unspecified()
	case unix.AF_INET6:
		dst = netip.IPv6Unspecified()
	default:
		return r, false
	}
	at := nl.Attributes(b[sizeofRtmsg:])
	for {
		typ, v, more := at.Next()
		if !more {
			break
		}
		switch typ {
		case unix.RTA_DST:
			if dst, ok = address(family, v); !ok {
				return r, false
			}
		case unix.RTA_TABLE:
			r.Table = nl.U32(v)
		case unix.RTA_PRIORITY:
			r.Metric = nl.U32(v)
		case unix.RTA_OIF:
			r.Via.OIF = nl.U32(v)
		case unix.RTA_GATEWAY:
			if r.Via.Gateway, ok = address(family, v); !ok {
				return r, false
			}
			if r.Via.Gateway.IsUnspecified() {
				r.Via.Gateway = netip.Addr{}
			}
		case unix.RTA_VIA: // struct rtvia: u16 family, then the address
			if len(v) < 2 {
				return r, false
			}
			if r.Via.Gateway, ok = address(byte(nl.U16(v)), v[2:]); !ok {
				r.Via.Odd |= OddUnknown
			}
		case unix.RTA_METRICS:
			metrics(v, &r.Via)
		case unix.RTA_MULTIPATH:
			r.Via.Odd |= OddMultipath
		case rtaNHID:
			object = true
		case unix.RTA_ENCAP, unix.RTA_ENCAP_TYPE:
			r.Via.Odd |= OddEncap
		case unix.RTA_SRC:
			r.Via.Odd |= OddSource
		case unix.RTA_IIF:
			r.Via.Odd |= OddInput
		case unix.RTA_NEWDST:
			r.Via.Odd |= OddLabel
		case unix.RTA_EXPIRES:
			r.Via.Odd |= OddExpires
		case unix.RTA_PREF:
			r.Via.Pref = nl.U8(v)
		case unix.RTA_CACHEINFO: // struct rta_cacheinfo: clntref, lastuse, expires…
			if len(v) >= 12 { // in ticks of USER_HZ, 100 a second
				r.Lifetime = time.Duration(int32(nl.U32(v[8:]))) * 10 * time.Millisecond
			}
		case unix.RTA_FLOW:
			r.Via.Realm = true
		case unix.RTA_PREFSRC, unix.RTA_PAD:
			// Matter to the box's own packets or to nobody.
		default:
			r.Via.Odd |= OddUnknown
		}
	}
	if at.Bad() || dstLen > dst.BitLen() {
		return r, false
	}
	// With nexthop_compat_mode, the default, the kernel writes a single next hop
	// out beside its object's number, and tells of the routes again when the object
	// is replaced (nexthop_replace_notify, net/ipv4/nexthop.c).
	if object && r.Via.OIF == 0 {
		r.Via.Odd |= OddNextHop
	}
	r.Dst = netip.PrefixFrom(dst, dstLen).Masked()
	return r, true
}

// metrics reads RTA_METRICS: nested attributes numbered RTAX_*. Of them only
// the MTU and its lock touch a packet that passes through; the others belong to
// the box's own sockets.
func metrics(b []byte, v *Via) {
	at := nl.Attributes(b)
	for {
		typ, val, ok := at.Next()
		if !ok {
			break
		}
		switch typ {
		case unix.RTAX_MTU:
			v.MTU = nl.U32(val)
		case unix.RTAX_LOCK: // bit mask of locked metrics
			v.Locked = nl.U32(val)&(1<<unix.RTAX_MTU) != 0
		}
	}
	if at.Bad() || v.Locked && v.MTU == 0 {
		v.Odd |= OddMetrics // locked without a value: 576 by way of a gateway (ip_dst_mtu_maybe_forward)
	}
}

func address(family byte, b []byte) (netip.Addr, bool) {
	switch {
	case family == unix.AF_INET && len(b) == 4:
		return netip.AddrFrom4([4]byte(b)), true
	case family == unix.AF_INET6 && len(b) == 16:
		return netip.AddrFrom16([16]byte(b)), true
	}
	return netip.Addr{}, false
}
