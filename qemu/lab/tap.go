package lab

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// errNoTap says that this user may not have a tap.
var errNoTap = errors.New("/dev/net/tun may not be opened")

// openTap makes a tap in the calling thread's namespace and returns one
// descriptor for each queue. IFF_VNET_HDR puts a virtio header before each
// frame, which lets the guest and the host leave checksums and segmentation to
// each other (Documentation/networking/tuntap.rst).
func openTap(name string, queues int) (fds []*os.File, err error) {
	defer func() {
		if err != nil {
			for _, f := range fds {
				f.Close()
			}
			fds = nil
		}
	}()
	for range queues {
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOENT) {
			return fds, fmt.Errorf("%w: %w", errNoTap, err)
		}
		if err != nil {
			return fds, fmt.Errorf("open /dev/net/tun: %w", err)
		}
		fds = append(fds, os.NewFile(uintptr(fd), "tap "+name))
		req, err := unix.NewIfreq(name)
		if err != nil {
			return fds, err
		}
		flags := uint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
		if queues > 1 {
			flags |= unix.IFF_MULTI_QUEUE
		}
		req.SetUint16(flags)
		if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, req); err != nil {
			return fds, fmt.Errorf("make the tap %s: %w", name, err)
		}
	}
	return fds, nil
}
