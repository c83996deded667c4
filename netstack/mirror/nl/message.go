package nl

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Message is one netlink message. Data is what follows the header and aliases
// the receive buffer: it is valid until the next receive.
type Message struct {
	Type, Flags uint16
	Seq, PID    uint32
	Data        []byte
}

// Split cuts the first message off a datagram; ok is false at its end or where
// a header lies about its length.
func Split(b []byte) (m Message, rest []byte, ok bool) {
	if len(b) < unix.SizeofNlMsghdr {
		return m, nil, false
	}
	n := int(binary.NativeEndian.Uint32(b))
	if n < unix.SizeofNlMsghdr || n > len(b) {
		return m, nil, false
	}
	m = Message{
		Type:  binary.NativeEndian.Uint16(b[4:]),
		Flags: binary.NativeEndian.Uint16(b[6:]),
		Seq:   binary.NativeEndian.Uint32(b[8:]),
		PID:   binary.NativeEndian.Uint32(b[12:]),
		Data:  b[unix.SizeofNlMsghdr:n],
	}
	return m, b[min(align(n), len(b)):], true
}

// errno reads the error of NLMSG_ERROR and of a NLMSG_DONE that carries one: a
// negative errno in the first four bytes (0: success, or an acknowledgement).
func (m Message) errno() unix.Errno {
	if len(m.Data) < 4 {
		return 0
	}
	return unix.Errno(-int32(binary.NativeEndian.Uint32(m.Data)))
}

func appendMessage(b []byte, typ, flags uint16, seq uint32, data []byte) []byte {
	b = binary.NativeEndian.AppendUint32(b, uint32(unix.SizeofNlMsghdr+len(data)))
	b = binary.NativeEndian.AppendUint16(b, typ)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = binary.NativeEndian.AppendUint32(b, seq)
	b = binary.NativeEndian.AppendUint32(b, 0)
	return append(b, data...)
}
