package traffic

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// The classic BPF program that lets pass UDP to Port, IPv4 without options and
// IPv6 without extension headers: all other frames of a busy interface stay in
// the kernel.
var filter = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, K: 12},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 0x0800, Jt: 0, Jf: 4},
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 23},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 17, Jt: 0, Jf: 8},
	{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, K: 36},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: Port, Jt: 5, Jf: 6},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 0x86dd, Jt: 0, Jf: 5},
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 20},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 17, Jt: 0, Jf: 3},
	{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, K: 56},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: Port, Jt: 0, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0x40000},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},
}

// receiveBuffer is asked for; without privilege over the first namespace the
// kernel gives net.core.rmem_max. 8 MiB hold two seconds of the lab's loads.
const receiveBuffer = 8 << 20

// packetSocket opens a packet socket on an interface of the calling thread's
// namespace. One that receives starts with nothing in it.
func packetSocket(name string, receive bool) (fd int, err error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return -1, fmt.Errorf("interface %s: %w", name, err)
	}
	fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("packet socket (needs CAP_NET_RAW): %w", err)
	}
	defer func() {
		if err != nil {
			unix.Close(fd)
		}
	}()
	to := &unix.SockaddrLinklayer{Ifindex: i.Index}
	if receive {
		// The filter before the bind, so that nothing else gets in.
		p := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &p); err != nil {
			return -1, fmt.Errorf("filter of the packet socket: %w", err)
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1); err != nil {
			return -1, fmt.Errorf("packet socket on %s: %w", name, err)
		}
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) != nil {
			if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer); err != nil {
				return -1, fmt.Errorf("buffer of the packet socket: %w", err)
			}
		}
		// So that the receiver sees when it is to stop.
		tv := unix.NsecToTimeval(50e6)
		if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
			return -1, fmt.Errorf("timeout of the packet socket: %w", err)
		}
		to.Protocol = unix.ETH_P_ALL<<8 | unix.ETH_P_ALL>>8
	}
	if err := unix.Bind(fd, to); err != nil {
		return -1, fmt.Errorf("bind to %s: %w", name, err)
	}
	return fd, nil
}

// sink binds Port on an end's addresses and never reads it, so that the kernel
// takes the frames and sends no ICMP error back. IPv6 sockets take IPv4 too.
func sink() (int, error) {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet6{Port: Port}); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("take UDP port %d: %w", Port, err)
	}
	return fd, nil
}
