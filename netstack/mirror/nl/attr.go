package nl

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Attrs reads a run of netlink attributes (include/uapi/linux/netlink.h, struct
// nlattr: u16 length with header, u16 type, both in host order, padded to four
// bytes) in place. It stops at the first one that does not fit.
type Attrs struct {
	rest []byte
	bad  bool
}

// Attributes starts reading at b.
func Attributes(b []byte) Attrs { return Attrs{rest: b} }

// Next yields the next attribute's type, without NLA_F_NESTED and
// NLA_F_NET_BYTEORDER, and its value, which aliases the message.
func (a *Attrs) Next() (typ uint16, value []byte, ok bool) {
	if len(a.rest) < unix.SizeofNlAttr {
		return 0, nil, false
	}
	n := int(binary.NativeEndian.Uint16(a.rest))
	if n < unix.SizeofNlAttr || n > len(a.rest) {
		a.rest, a.bad = nil, true
		return 0, nil, false
	}
	typ = binary.NativeEndian.Uint16(a.rest[2:]) & typeMask
	value = a.rest[unix.SizeofNlAttr:n]
	a.rest = a.rest[min(align(n), len(a.rest)):]
	return typ, value, true
}

// Bad reports whether reading ended at an attribute that lies about its length.
func (a *Attrs) Bad() bool { return a.bad }

// Find returns the first attribute of a type in b.
func Find(b []byte, want uint16) ([]byte, bool) {
	a := Attributes(b)
	for {
		typ, v, ok := a.Next()
		if !ok {
			return nil, false
		}
		if typ == want {
			return v, true
		}
	}
}

// U8, U16, U32 read a value in host order, 0 when it is too short.
func U8(b []byte) uint8 {
	if len(b) < 1 {
		return 0
	}
	return b[0]
}

func U16(b []byte) uint16 {
	if len(b) < 2 {
		return 0
	}
	return binary.NativeEndian.Uint16(b)
}

func U32(b []byte) uint32 {
	if len(b) < 4 {
		return 0
	}
	return binary.NativeEndian.Uint32(b)
}

// Text is a string attribute without its final zero byte.
func Text(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// AppendAttr appends one attribute with its padding.
func AppendAttr(b []byte, typ uint16, value []byte) []byte {
	n := unix.SizeofNlAttr + len(value)
	b = binary.NativeEndian.AppendUint16(b, uint16(n))
	b = binary.NativeEndian.AppendUint16(b, typ)
	b = append(b, value...)
	for ; n != align(n); n++ {
		b = append(b, 0)
	}
	return b
}

// typeMask is NLA_TYPE_MASK: all but NLA_F_NESTED and NLA_F_NET_BYTEORDER.
const typeMask = 0x3fff

func align(n int) int { return (n + unix.NLMSG_ALIGNTO - 1) &^ (unix.NLMSG_ALIGNTO - 1) }
