package nl

import (
	"bytes"
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"weir/internal/testenv"
)

func TestAttributes(t *testing.T) {
	b := AppendAttr(nil, 7, []byte{1})
	b = AppendAttr(b, 8|unix.NLA_F_NESTED, AppendAttr(nil, 9, []byte("eth0\x00")))
	b = AppendAttr(b, 10, nil)
	if len(b)%4 != 0 {
		t.Errorf("%d bytes are not padded to four", len(b))
	}
	type attr struct {
		typ   uint16
		value string
	}
	var got []attr
	at := Attributes(b)
	for typ, v, ok := at.Next(); ok; typ, v, ok = at.Next() {
		got = append(got, attr{typ, string(v)})
	}
	if len(got) != 3 || at.Bad() || got[0] != (attr{7, "\x01"}) || got[1].typ != 8 || got[2] != (attr{10, ""}) {
		t.Fatalf("read back as %v, bad %v", got, at.Bad())
	}
	v, ok := Find([]byte(got[1].value), 9)
	if !ok || Text(v) != "eth0" {
		t.Errorf("nested name is %q, %v", v, ok)
	}
	for _, lie := range [][]byte{{3, 0, 1, 0}, {0, 0, 0, 0}, {200, 0, 1, 0}, {255, 255, 255, 255, 0}} {
		at := Attributes(lie)
		if _, _, ok := at.Next(); ok || !at.Bad() {
			t.Errorf("attribute % x is taken for good", lie)
		}
	}
}

func TestSplit(t *testing.T) {
	b := appendMessage(nil, 16, 2, 3, []byte{9, 9, 9, 9, 9})
	b = append(b, 0, 0, 0) // padding
	b = appendMessage(b, 17, 0, 4, nil)
	m, rest, ok := Split(b)
	if !ok || m.Type != 16 || m.Flags != 2 || m.Seq != 3 || len(m.Data) != 5 {
		t.Fatalf("first message %+v, %v", m, ok)
	}
	m, rest, ok = Split(rest)
	if !ok || m.Type != 17 || len(m.Data) != 0 {
		t.Fatalf("second message %+v, %v", m, ok)
	}
	if _, _, ok = Split(rest); ok {
		t.Error("a third message appears")
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(appendMessage(nil, 24, 0, 1, AppendAttr(make([]byte, 12), 1, []byte{10, 0, 0, 0})))
	f.Add(appendMessage(appendMessage(nil, 3, 2, 1, []byte{0, 0, 0, 0}), 2, 0, 0, []byte{0xff, 0xff, 0xff, 0xff}))
	f.Add([]byte{16, 0, 0, 0})
	f.Add(bytes.Repeat([]byte{0xff}, 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		rounds := 0
		for m, rest, ok := Split(b); ok; m, rest, ok = Split(rest) {
			if rounds++; rounds > len(b)/unix.SizeofNlMsghdr {
				t.Fatal("more messages than fit")
			}
			m.errno()
			at := Attributes(m.Data)
			attrs := 0
			for _, v, ok := at.Next(); ok; _, v, ok = at.Next() {
				if attrs++; attrs > len(m.Data)/unix.SizeofNlAttr {
					t.Fatal("more attributes than fit")
				}
				Find(v, 1)
				Text(v)
				U8(v)
				U16(v)
				U32(v)
			}
		}
	})
}

// TestConn talks to the kernel: an answer, a refusal, a protocol that is not.
func TestConn(t *testing.T) {
	testenv.Namespace(t)
	c, err := Dial(unix.NETLINK_ROUTE, unix.RTNLGRP_LINK)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetReadBuffer(1 << 20); err != nil {
		t.Error(err)
	}
	n := 0
	if err := c.Dump(unix.RTM_GETLINK, make([]byte, unix.SizeofIfInfomsg), func() { n = 0 }, func(m Message) error { n++; return nil }); err != nil || n == 0 {
		t.Errorf("%d interfaces, %v", n, err)
	}
	stop := errors.New("enough")
	if err := c.Dump(unix.RTM_GETLINK, make([]byte, unix.SizeofIfInfomsg), nil, func(Message) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of the callback comes back as %v", err)
	}
	if err := c.Do(unix.RTM_DELLINK, 0, make([]byte, unix.SizeofIfInfomsg)); err == nil || errors.Is(err, stop) {
		t.Errorf("nonsense is answered with %v", err)
	}
	b := make([]byte, BufferSize)
	if _, ok, err := c.TryReceive(b); ok || err != nil {
		t.Errorf("something is left in the socket: %v %v", ok, err)
	}
	if _, err := Dial(31); !errors.Is(err, unix.EPROTONOSUPPORT) {
		t.Errorf("a protocol that is not there: %v", err)
	}
}

// TestOverrun: lost events are ErrOverrun, and after Discard events come again.
func TestOverrun(t *testing.T) {
	testenv.Namespace(t)
	c, err := Dial(unix.NETLINK_ROUTE, unix.RTNLGRP_IPV4_IFADDR)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetReadBuffer(1); err != nil { // the kernel's least
		t.Fatal(err)
	}
	q, err := Dial(unix.NETLINK_ROUTE)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	add := func(i byte) {
		t.Helper()
		body := []byte{unix.AF_INET, 32, 0, 0, 1, 0, 0, 0} // on lo
		if err := q.Do(unix.RTM_NEWADDR, unix.NLM_F_CREATE, AppendAttr(body, unix.IFA_LOCAL, []byte{127, 1, 0, i})); err != nil {
			t.Fatal(err)
		}
	}
	for i := range byte(100) {
		add(i)
	}
	b := make([]byte, BufferSize)
	overrun := false
	for range 200 {
		_, ok, err := c.TryReceive(b)
		if errors.Is(err, ErrOverrun) {
			overrun = true
			break
		}
		if err != nil || !ok {
			t.Fatalf("after a hundred events: %v, %v", ok, err)
		}
	}
	if !overrun {
		t.Fatal("no event was lost, or nobody told")
	}
	if err := c.Discard(); err != nil {
		t.Fatal(err)
	}
	add(200)
	if n, err := c.Receive(b); err != nil || n == 0 {
		t.Errorf("after Discard: %d bytes, %v", n, err)
	}
	add(201)
	if _, err := c.Receive(b[:8]); !errors.Is(err, ErrOverrun) && err == nil {
		t.Error("a datagram cut short is taken for whole")
	}
}
