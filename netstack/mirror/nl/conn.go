package nl

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrOverrun says that the kernel had to throw events away because the receive
// buffer was full (ENOBUFS): what was learnt from events is no longer the
// kernel's state, and only a new dump is.
var ErrOverrun = errors.New("netlink events were lost: dump again")

// ErrInterrupted says that a dump changed under the kernel's hands in each of
// several attempts (NLM_F_DUMP_INTR).
var ErrInterrupted = errors.New("netlink dump kept changing while it was read")

// BufferSize holds any datagram the kernel makes: dumps are filled into buffers
// of at most 32 KiB (netlink_dump, net/netlink/af_netlink.c), single events into
// what they need, which for a route with many next hops may be more.
const BufferSize = 128 << 10

// requestTimeout bounds a request's answer, so that a kernel that says nothing
// is an error and not a hang.
const requestTimeout = 10 * time.Second

// Conn is a netlink socket.
type Conn struct {
	f    *os.File
	rc   syscall.RawConn
	seq  uint32
	buf  []byte // answers to requests
	out  []byte
	name string
}

// Dial opens a socket of a netlink protocol (unix.NETLINK_ROUTE…) in the calling
// thread's network namespace and joins multicast groups by number. An error wraps
// the errno: EPROTONOSUPPORT and EAFNOSUPPORT mean a kernel without the protocol.
func Dial(protocol int, groups ...uint32) (*Conn, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol)
	if err != nil {
		return nil, fmt.Errorf("open netlink socket of protocol %d: %w", protocol, err)
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("bind netlink socket of protocol %d: %w", protocol, err)
	}
	for _, g := range groups {
		if err := unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_ADD_MEMBERSHIP, int(g)); err != nil {
			unix.Close(fd)
			return nil, fmt.Errorf("join netlink group %d of protocol %d: %w", g, protocol, err)
		}
	}
	// Without the message that failed, an error fits the smallest buffer.
	_ = unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_CAP_ACK, 1)
	f := os.NewFile(uintptr(fd), "netlink")
	rc, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("netlink socket of protocol %d: %w", protocol, err)
	}
	return &Conn{f: f, rc: rc}, nil
}

// SetReadBuffer asks for a receive buffer of n bytes, above rmem_max where the
// privilege (CAP_NET_ADMIN) allows it.
func (c *Conn) SetReadBuffer(n int) error {
	var serr error
	err := c.rc.Control(func(fd uintptr) {
		if serr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, n); serr != nil {
			serr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, n)
		}
	})
	if err := errors.Join(err, serr); err != nil {
		return fmt.Errorf("set netlink receive buffer: %w", err)
	}
	return nil
}

// Close closes the socket; a Receive that waits returns os.ErrClosed.
func (c *Conn) Close() error { return c.f.Close() }

// Receive waits for one datagram and returns its length. Datagrams that are not
// the kernel's are skipped. One that does not fit buf is ErrOverrun, as is one
// that the kernel could not queue.
func (c *Conn) Receive(buf []byte) (int, error) { return c.receive(buf, time.Time{}) }

// TryReceive is Receive without waiting: ok is false when nothing is queued.
func (c *Conn) TryReceive(buf []byte) (n int, ok bool, err error) {
	cerr := c.rc.Control(func(fd uintptr) {
		for {
			var flags int
			var from unix.Sockaddr
			n, _, flags, from, err = unix.Recvmsg(int(fd), buf, nil, unix.MSG_DONTWAIT)
			switch sa, kernel := from.(*unix.SockaddrNetlink); {
			case err == unix.EINTR:
				continue
			case err == unix.EAGAIN:
				err = nil
			case err == unix.ENOBUFS, err == nil && flags&unix.MSG_TRUNC != 0:
				err = ErrOverrun
			case err != nil:
				err = fmt.Errorf("receive from netlink: %w", err)
			case !kernel || sa.Pid != 0:
				continue
			default:
				ok = true
			}
			return
		}
	})
	return n, ok, errors.Join(err, cerr)
}

// Discard empties the receive queue. It is the way out of ErrOverrun: from the
// first lost event until the queue has been empty once, the kernel queues nothing
// more (NETLINK_S_CONGESTED, netlink_rcv_wake), so that a dump is only worth
// something after Discard.
func (c *Conn) Discard() error {
	var small [1]byte
	for {
		_, ok, err := c.TryReceive(small[:])
		if err != nil && !errors.Is(err, ErrOverrun) {
			return err
		}
		if !ok && err == nil {
			return nil
		}
	}
}

func (c *Conn) receive(buf []byte, deadline time.Time) (int, error) {
	if err := c.f.SetReadDeadline(deadline); err != nil {
		return 0, err
	}
	for {
		var n, flags int
		var from unix.Sockaddr
		var rerr error
		err := c.rc.Read(func(fd uintptr) bool {
			for {
				n, _, flags, from, rerr = unix.Recvmsg(int(fd), buf, nil, 0)
				if rerr != unix.EINTR {
					return rerr != unix.EAGAIN
				}
			}
		})
		switch {
		case err != nil:
			return 0, err
		case rerr == unix.ENOBUFS:
			return 0, ErrOverrun
		case rerr != nil:
			return 0, fmt.Errorf("receive from netlink: %w", rerr)
		case flags&unix.MSG_TRUNC != 0:
			return 0, ErrOverrun
		}
		if sa, ok := from.(*unix.SockaddrNetlink); ok && sa.Pid == 0 {
			return n, nil
		}
	}
}

// Send sends one request and does not wait for an answer.
func (c *Conn) Send(typ, flags uint16, data []byte) error {
	c.seq++
	c.out = appendMessage(c.out[:0], typ, flags|unix.NLM_F_REQUEST, c.seq, data)
	var serr error
	err := c.rc.Write(func(fd uintptr) bool {
		serr = unix.Sendto(int(fd), c.out, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
		return serr != unix.EAGAIN
	})
	if err := errors.Join(err, serr); err != nil {
		return fmt.Errorf("send to netlink: %w", err)
	}
	return nil
}
