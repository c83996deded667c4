package rtnl

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/nl"
)

// Address is one address of an interface.
type Address struct {
	IfIndex uint32
	// Addr is the interface's own (IFA_LOCAL; on point-to-point links
	// IFA_ADDRESS is the peer's).
	Addr netip.Addr
	Bits int
}

// ParseAddress decodes the body of RTM_NEWADDR or RTM_DELADDR (struct ifaddrmsg:
// u8 family, prefixlen, flags, scope; u32 index).
func ParseAddress(b []byte) (a Address, ok bool) {
	if len(b) < unix.SizeofIfAddrmsg {
		return a, false
	}
	family := b[0]
	a.Bits = int(b[1])
	a.IfIndex = nl.U32(b[4:])
	var local bool
	at := nl.Attributes(b[unix.SizeofIfAddrmsg:])
	for {
		typ, v, more := at.Next()
		if !more {
			break
		}
		if typ == unix.IFA_LOCAL || typ == unix.IFA_ADDRESS && !local {
			if a.Addr, ok = address(family, v); !ok {
				return a, false
			}
			local = local || typ == unix.IFA_LOCAL
		}
	}
	return a, !at.Bad() && a.Addr.IsValid()
}

func putU32(b []byte, v uint32) { binary.NativeEndian.PutUint32(b, v) }
