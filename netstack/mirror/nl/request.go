package nl

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// dumpAttempts bounds how often a dump that changed while it was read is
// repeated at once. Lists that change under every reading are given up, and the
// caller stays with what is safe.
const dumpAttempts = 8

// Dump asks for all objects of a kind. begin, which may be nil, is called before
// each attempt and each for every message of it; a dump that changed while it was
// read (NLM_F_DUMP_INTR) is repeated from the beginning.
func (c *Conn) Dump(typ uint16, data []byte, begin func(), each func(Message) error) error {
	for range dumpAttempts {
		if begin != nil {
			begin()
		}
		interrupted, err := c.request(typ, unix.NLM_F_DUMP, data, each)
		if err != nil {
			return err
		}
		if !interrupted {
			return nil
		}
	}
	return ErrInterrupted
}

// Get asks one question and hands over the messages of the answer.
func (c *Conn) Get(typ uint16, data []byte, each func(Message) error) error {
	_, err := c.request(typ, unix.NLM_F_ACK, data, each)
	return err
}

// Do sends one order and waits until the kernel has carried it out.
func (c *Conn) Do(typ, flags uint16, data []byte) error {
	_, err := c.request(typ, flags|unix.NLM_F_ACK, data, func(Message) error { return nil })
	return err
}

func (c *Conn) request(typ, flags uint16, data []byte, each func(Message) error) (interrupted bool, err error) {
	if c.buf == nil {
		c.buf = make([]byte, BufferSize)
	}
	if err := c.Send(typ, flags, data); err != nil {
		return false, err
	}
	deadline := time.Now().Add(requestTimeout)
	var failed error // of each: the answer is still read to its end
	for {
		n, err := c.receive(c.buf, deadline)
		if err != nil {
			return false, err
		}
		for m, rest, ok := Split(c.buf[:n]); ok; m, rest, ok = Split(rest) {
			if m.Seq != c.seq {
				continue // an earlier request's late answer
			}
			interrupted = interrupted || m.Flags&unix.NLM_F_DUMP_INTR != 0
			switch m.Type {
			case unix.NLMSG_DONE, unix.NLMSG_ERROR:
				if e := m.errno(); e != 0 && failed == nil {
					failed = fmt.Errorf("netlink request %d: %w", typ, e)
				}
				return interrupted, failed
			case unix.NLMSG_NOOP:
			case unix.NLMSG_OVERRUN:
				return false, ErrOverrun
			default:
				if failed == nil {
					failed = each(m)
				}
			}
		}
	}
}
