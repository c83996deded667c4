package rtnl

import (
	"net/netip"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/nl"
)

// Neighbour is one entry of the ARP or ND table.
type Neighbour struct {
	IfIndex uint32
	Addr    netip.Addr
	MAC     [6]byte
	// Valid: the kernel sends to MAC without asking first (NUD_VALID,
	// include/net/neighbour.h, with a link-layer address of six bytes).
	Valid bool
	// Stale: it would confirm the entry before long use (valid, but neither
	// NUD_REACHABLE nor one of the states that need no confirmation).
	Stale bool
}

const (
	nudFixed = unix.NUD_PERMANENT | unix.NUD_NOARP
	nudValid = nudFixed | unix.NUD_REACHABLE | unix.NUD_PROBE | unix.NUD_STALE | unix.NUD_DELAY
)

// ParseNeighbour decodes the body of RTM_NEWNEIGH or RTM_DELNEIGH (struct ndmsg:
// u8 family, three bytes of padding, s32 ifindex, u16 state, u8 flags, u8 type).
// ok is false for other families (bridge FDB), proxy entries, and bytes that do
// not parse.
func ParseNeighbour(b []byte) (n Neighbour, ok bool) {
	if len(b) < unix.SizeofNdMsg {
		return n, false
	}
	family := b[0]
	n.IfIndex = nl.U32(b[4:])
	state, flags := nl.U16(b[8:]), b[10]
	if flags&unix.NTF_PROXY != 0 {
		return n, false
	}
	var mac bool
	at := nl.Attributes(b[unix.SizeofNdMsg:])
	for {
		typ, v, more := at.Next()
		if !more {
			break
		}
		switch typ {
		case unix.NDA_DST:
			if n.Addr, ok = address(family, v); !ok {
				return n, false
			}
		case unix.NDA_LLADDR:
			if mac = len(v) == 6; mac {
				n.MAC = [6]byte(v)
			}
		}
	}
	if at.Bad() || !n.Addr.IsValid() {
		return n, false
	}
	n.Valid = mac && state&nudValid != 0
	n.Stale = n.Valid && state&(nudFixed|unix.NUD_REACHABLE) == 0
	return n, true
}

// AppendUse appends the body of an RTM_NEWNEIGH that tells the kernel an
// existing entry is in use (NTF_USE: neigh_add in net/core/neighbour.c calls
// neigh_event_send and changes nothing else): a stale one is confirmed by the
// kernel's own ARP or ND after delay_first_probe_time.
func AppendUse(b []byte, ifIndex uint32, addr netip.Addr) []byte {
	family, raw := byte(unix.AF_INET), addr.AsSlice()
	if addr.Is6() {
		family = unix.AF_INET6
	}
	var h [unix.SizeofNdMsg]byte
	h[0], h[10] = family, unix.NTF_USE
	putU32(h[4:], ifIndex)
	return nl.AppendAttr(append(b, h[:]...), unix.NDA_DST, raw)
}
