package mirror

import (
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"weir/netstack/snapshot"
)

// TestIPTables: a table of the old iptables is a reason from the moment it
// exists, which is when the first program asks about it.
func TestIPTables(t *testing.T) {
	b := newBed(t, nil)
	b.wait("fast at first", func(s *snapshot.Snapshot) bool { return s.Ports[0].Fast4 })
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_RAW)
	b.must(err)
	defer unix.Close(fd)
	// getsockopt(IPT_SO_GET_INFO) with struct ipt_getinfo: char name[32], and 13
	// words for the answer (include/uapi/linux/netfilter_ipv4/ip_tables.h).
	const getInfo = 64
	var info [84]byte
	copy(info[:], "filter")
	size := uint32(len(info))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_IP, getInfo,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno == unix.ENOPROTOOPT || errno == unix.ENOENT {
		t.Skip("the kernel has no iptables table (its module iptable_filter is not loaded)")
	}
	if errno != 0 {
		t.Fatal(errno)
	}
	b.wait("the table is a reason", func(s *snapshot.Snapshot) bool {
		return !s.Ports[0].Fast4 && s.Ports[0].Fast6 && slices.Contains(s.Ports[0].Slow, "ipv4: iptables table filter")
	})
}
