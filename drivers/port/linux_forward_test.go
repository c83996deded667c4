package port_test

import (
	"encoding/binary"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"weir/drivers/port"
	"weir/internal/testenv"
)

// wire is the far end of a port's cable, as raw frames.
type wire struct {
	fd  int
	mac net.HardwareAddr
}

func openWire(t *testing.T, name string) wire {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ALL), Ifindex: l.Attrs().Index}); err != nil {
		t.Fatal(err)
	}
	return wire{fd, l.Attrs().HardwareAddr}
}

// htons is n in network order, read as the machine's.
func htons(n uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, n))
}

// echo is an ICMPv6 echo request in an Ethernet frame; its identifier tells it
// from others.
func echo(from wire, to net.HardwareAddr, src, dst netip.Addr, id uint16) []byte {
	icmp := binary.BigEndian.AppendUint16([]byte{128, 0, 0, 0}, id)
	icmp = append(icmp, 0, 1)
	sum := uint32(58 + len(icmp))
	s16, d16 := src.As16(), dst.As16()
	for _, b := range [][]byte{s16[:], d16[:], icmp} {
		for i := 0; i < len(b); i += 2 {
			sum += uint32(binary.BigEndian.Uint16(b[i:]))
		}
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(icmp[2:], ^uint16(sum))
	f := append(append([]byte{}, to...), from.mac...)
	f = append(f, 0x86, 0xdd, 0x60, 0, 0, 0, 0, byte(len(icmp)), 58, 64)
	return append(append(append(f, s16[:]...), d16[:]...), icmp...)
}

// waitEcho reads frames until an ICMPv6 echo of a type comes, and returns its
// identifier.
func (w wire) waitEcho(t *testing.T, typ byte) uint16 {
	t.Helper()
	buf := make([]byte, 2048)
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		fds := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(fds, 100); n <= 0 || err != nil {
			continue
		}
		n, from, err := unix.Recvfrom(w.fd, buf, 0)
		if ll, ok := from.(*unix.SockaddrLinklayer); err != nil || !ok || ll.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		if n >= 62 && buf[12] == 0x86 && buf[13] == 0xdd && buf[20] == 58 && buf[54] == typ {
			return binary.BigEndian.Uint16(buf[58:])
		}
	}
	t.Fatalf("no echo of type %d came", typ)
	return 0
}

// In a real kernel: a port that is not to forward drops IPv6 packets for others
// (the kernel's own per-port switch does not, ip6_forward asks the global one),
// and still answers what is for this machine.
func TestLinuxForwardOff(t *testing.T) {
	testenv.Namespace(t)
	pair(t, "a0", "52:54:00:00:01:01", "a1", "52:54:00:00:01:02")
	pair(t, "b0", "52:54:00:00:02:01", "b1", "52:54:00:00:02:02")
	spec := port.Spec{Ports: []port.Port{
		{Label: "lan", Match: port.Match{MAC: "52:54:00:00:01:01"}, Forward: false, Address: prefixes("2001:db8:1::1/64")},
		{Label: "wan", Match: port.Match{MAC: "52:54:00:00:02:01"}, Forward: true, Address: prefixes("2001:db8:2::1/64")},
	}}
	s := port.New(port.Linux{})
	apply(t, s, spec)
	until(t, "addresses are usable", func() bool {
		addrs, err := port.Linux{}.Addresses()
		for _, a := range addrs {
			if a.Ours && a.Tentative {
				return false
			}
		}
		return err == nil
	})
	client, server := netip.MustParseAddr("2001:db8:1::99"), netip.MustParseAddr("2001:db8:2::99")
	a1, b1 := openWire(t, "a1"), openWire(t, "b1")
	for name, n := range map[string]struct {
		addr netip.Addr
		mac  net.HardwareAddr
	}{"lan": {client, a1.mac}, "wan": {server, b1.mac}} {
		l, err := netlink.LinkByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := netlink.NeighAdd(&netlink.Neigh{LinkIndex: l.Attrs().Index, State: netlink.NUD_PERMANENT, IP: n.addr.AsSlice(), HardwareAddr: n.mac}); err != nil {
			t.Fatal(err)
		}
	}
	lanMAC, wanMAC := net.HardwareAddr{0x52, 0x54, 0, 0, 1, 1}, net.HardwareAddr{0x52, 0x54, 0, 0, 2, 1}
	send := func(w wire, frame []byte) {
		t.Helper()
		if _, err := unix.Write(w.fd, frame); err != nil {
			t.Fatal(err)
		}
	}
	// For another: must not come out. For this machine, sent after it: answered,
	// which shows that the port and its ordering work.
	send(a1, echo(a1, lanMAC, client, server, 1))
	send(a1, echo(a1, lanMAC, client, netip.MustParseAddr("2001:db8:1::1"), 2))
	if id := a1.waitEcho(t, 129); id != 2 {
		t.Errorf("answer to %d", id)
	}
	// The other way is on: it comes out.
	send(b1, echo(b1, wanMAC, server, client, 3))
	if id := a1.waitEcho(t, 128); id != 3 {
		t.Errorf("forwarded %d", id)
	}
	// Switched on, the same frame passes, and is the first to.
	spec.Ports[0].Forward = true
	apply(t, s, spec)
	send(a1, echo(a1, lanMAC, client, server, 4))
	if id := b1.waitEcho(t, 128); id != 4 {
		t.Errorf("the first frame that came out is %d: forwarding was not off", id)
	}
}
