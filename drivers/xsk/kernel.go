package xsk

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// kernel is every system call that a Socket makes, so that a test can stand in
// for the kernel or let any call fail.
type kernel interface {
	// Control.
	socket() (int, error)
	register(fd int, mem []byte, size, headroom int) error
	ringSize(fd, option, entries int) error
	offsets(fd int) (unix.XDPMmapOffsets, error)
	mmap(fd int, offset int64, length int) ([]byte, error)
	munmap(mem []byte) error
	sendBuffer(fd, bytes int) error
	txBudget(fd, frames int) error
	bind(fd int, addr *unix.SockaddrXDP) error
	zeroCopy(fd int) (bool, error)
	statistics(fd int) (unix.XDPStatistics, error)
	close(fd int) error
	pause() // between two tries

	// Data: neither blocks.
	kick(fd int) unix.Errno // TX: sendto
	poke(fd int) unix.Errno // RX: recvfrom
}

// linux is the real one.
type linux struct{}

func (linux) socket() (int, error) {
	fd, err := unix.Socket(unix.AF_XDP, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	return fd, os.NewSyscallError("socket", err)
}

func (linux) ringSize(fd, option, entries int) error {
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.SOL_XDP, option, entries))
}

// mmap: unix.Mmap takes the offset as an int64 and is right on 32-bit machines
// too, where the offsets of the fill and completion rings (4 and 6 GiB) do not
// fit a uintptr.
func (linux) mmap(fd int, offset int64, length int) ([]byte, error) {
	mem, err := unix.Mmap(fd, offset, length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	return mem, os.NewSyscallError("mmap", err)
}

func (linux) munmap(mem []byte) error { return os.NewSyscallError("munmap", unix.Munmap(mem)) }

// sendBuffer raises the limit of what may be in flight in copy mode.
func (linux) sendBuffer(fd, bytes int) error {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, bytes) == nil {
		return nil
	}
	// Without CAP_NET_ADMIN the kernel cuts it to net.core.wmem_max, silently.
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, bytes))
}

// txBudget raises how many frames one kick sends in copy mode (Linux 6.17).
func (linux) txBudget(fd, frames int) error {
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.SOL_XDP, unix.XDP_MAX_TX_SKB_BUDGET, frames))
}

func (linux) bind(fd int, addr *unix.SockaddrXDP) error {
	return os.NewSyscallError("bind", unix.Bind(fd, addr))
}

func (linux) zeroCopy(fd int) (bool, error) {
	flags, err := unix.GetsockoptInt(fd, unix.SOL_XDP, unix.XDP_OPTIONS)
	return flags&unix.XDP_OPTIONS_ZEROCOPY != 0, os.NewSyscallError("getsockopt", err)
}

func (linux) close(fd int) error { return os.NewSyscallError("close", unix.Close(fd)) }

func (linux) pause() { time.Sleep(bindPause) }

// kick and poke use RawSyscall: the calls cannot block, so the Go scheduler need
// not be told.
func (linux) kick(fd int) unix.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), 0, 0, unix.MSG_DONTWAIT, 0, 0)
	return e
}

func (linux) poke(fd int) unix.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), 0, 0, unix.MSG_DONTWAIT, 0, 0)
	return e
}

var errOldKernel = errors.New("the kernel does not tell where a ring's flags are (Linux 5.4 does)")

func sized(what string, got, want uint32) error {
	if got < want {
		return fmt.Errorf("%s of %d bytes instead of %d: %w", what, got, want, errOldKernel)
	}
	return nil
}
