package lab

import (
	"fmt"
	"os"

	"github.com/safchain/ethtool"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// frameMax is above any frame the relay meets: the veth's MTU is 1500 and
// segmentation is switched off.
const frameMax = 4096

// relay carries frames between a veth's far end and QEMU's datagram socket: the
// wire where a tap cannot be had.
type relay struct {
	packet, local int // AF_PACKET socket; our end of the datagram pair
}

// newRelay makes, in the calling thread's namespace, the veth pair whose near
// end is name, and returns QEMU's end of the socket pair.
func newRelay(name string) (*relay, *os.File, error) {
	far := name + "-wire"
	veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: far}
	if err := netlink.LinkAdd(veth); err != nil {
		return nil, nil, fmt.Errorf("make the veth pair %s: %w", name, err)
	}
	// The far end must not speak: it would be a second host on the wire.
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+far+"/disable_ipv6", []byte("1"), 0); err != nil {
		return nil, nil, fmt.Errorf("silence %s: %w", far, err)
	}
	// A packet socket would hand QEMU's guest packets whose checksum the veth left
	// to "hardware", and packets of 64 kB.
	et, err := ethtool.NewEthtool()
	if err != nil {
		return nil, nil, fmt.Errorf("ethtool: %w", err)
	}
	defer et.Close()
	off := map[string]bool{"tx-checksum-ip-generic": false, "tx-generic-segmentation": false,
		"tx-tcp-segmentation": false, "tx-tcp6-segmentation": false, "tx-tcp-ecn-segmentation": false,
		"tx-tcp-mangleid-segmentation": false, "tx-udp-segmentation": false}
	if err := et.Change(name, off); err != nil {
		return nil, nil, fmt.Errorf("switch the offloads of %s off: %w", name, err)
	}
	link, err := netlink.LinkByName(far)
	if err != nil {
		return nil, nil, err
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return nil, nil, fmt.Errorf("bring up %s: %w", far, err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(htons(unix.ETH_P_ALL)))
	if err != nil {
		return nil, nil, fmt.Errorf("packet socket on %s: %w", far, err)
	}
	r := &relay{packet: fd, local: -1}
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1); err != nil {
		r.close()
		return nil, nil, fmt.Errorf("packet socket on %s: %w", far, err)
	}
	// As long as a tap's queue, if the kernel lets a user namespace have that.
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, queueLen*1000) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, queueLen*1000) // capped, never refused
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ALL), Ifindex: link.Attrs().Index}); err != nil {
		r.close()
		return nil, nil, fmt.Errorf("bind to %s: %w", far, err)
	}
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		r.close()
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	r.local = p[0]
	go copyFrames(r.packet, r.local)
	go copyFrames(r.local, r.packet)
	return r, os.NewFile(uintptr(p[1]), "wire "+name), nil
}

// copyFrames ends when either side is shut down.
func copyFrames(from, to int) {
	buf := make([]byte, frameMax)
	for {
		n, err := unix.Read(from, buf)
		switch {
		case err == unix.EINTR || err == unix.ENETDOWN:
			continue
		case err != nil || n == 0:
			return
		}
		// A frame that does not get through is a lost frame, as on any wire.
		if _, err := unix.Write(to, buf[:n]); err == unix.EBADF || err == unix.EPIPE || err == unix.ENOTCONN {
			return
		}
	}
}

func (r *relay) close() {
	if r.local >= 0 {
		unix.Shutdown(r.local, unix.SHUT_RDWR)
		unix.Close(r.local)
	}
	unix.Shutdown(r.packet, unix.SHUT_RDWR)
	unix.Close(r.packet)
}

func htons(v uint16) uint16 { return v<<8 | v>>8 }
