package xsk

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// step is a system call's purpose in Open.
type step string

const (
	stepSocket   step = "open the socket"
	stepRegister step = "register the frame memory"
	stepRing     step = "size a ring"
	stepMap      step = "map a ring"
	stepSend     step = "raise the send buffer"
	stepBind     step = "bind"
	stepMode     step = "ask for the mode"
)

// explain turns what a system call said at a step into a sentence with a remedy.
// errors.Is finds the errno.
func (s *Socket) explain(at step, err error) error {
	remedy := ""
	var errno unix.Errno
	if errors.As(err, &errno) {
		remedy = s.remedy(at, errno)
	}
	if remedy != "" {
		remedy = ": " + remedy
	}
	return fmt.Errorf("af_xdp socket on %s queue %d: %s: %w%s", s.name, s.queue, at, err, remedy)
}

func (s *Socket) remedy(at step, e unix.Errno) string {
	switch e {
	case unix.EPERM, unix.EACCES:
		return "it takes CAP_NET_RAW (and CAP_BPF for the program): run as root"
	case unix.EAFNOSUPPORT:
		return "the kernel is built without CONFIG_XDP_SOCKETS: use another kernel or tier afpacket"
	case unix.EBUSY:
		if at == stepBind {
			return "another AF_XDP socket has this queue, this worker's or another forwarder's: stop that, or use another queue"
		}
		return "the socket is already in use: open a new one"
	case unix.ENODEV, unix.ENXIO:
		return "there is no such interface in this network namespace: has it been removed or moved?"
	case unix.EOPNOTSUPP:
		if s.shared {
			return "the worker's first port is in zero-copy mode and this one's driver cannot: open all of them in copy mode"
		}
		return "the driver has no zero-copy mode: use copy mode"
	case unix.ENETDOWN:
		return "the interface is down: set it up first"
	case unix.ENOBUFS:
		return fmt.Sprintf("%d bytes cannot be locked in memory: raise RLIMIT_MEMLOCK, or run with CAP_IPC_LOCK, or use fewer frames", s.u.Frames()*s.u.Size())
	case unix.ENOMEM:
		return "the kernel has not enough memory: use fewer frames, smaller rings or fewer workers"
	case unix.EINVAL:
		switch at {
		case stepRegister:
			return fmt.Sprintf("frames of %d bytes with headroom %d are refused: use 2048 or 4096, and no more than the page size", s.u.Size(), s.u.Headroom())
		case stepRing:
			return "the number of entries has to be a power of two"
		case stepBind:
			if s.shared {
				return "the port has no such queue, or a socket of this worker has it already, or the driver cannot use these frames: see `ethtool -l`"
			}
			return "the port has no such queue, or the driver cannot use these frames (size, MTU): see `ethtool -l`"
		}
	case unix.ENOPROTOOPT:
		return "the kernel is too old: Linux 5.10 and later share frame memory between ports"
	}
	return ""
}
