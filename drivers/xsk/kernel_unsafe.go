package xsk

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"weir/drivers/ring"
)

// The structures below are made of fixed-width fields in an order that leaves
// no hole, so they are the same bytes on 32-bit and 64-bit machines.

func (linux) register(fd int, mem []byte, size, headroom int) error {
	reg := unix.XDPUmemReg{
		Addr: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))), Len: uint64(len(mem)),
		Size: uint32(size), Headroom: uint32(headroom),
	}
	return setsockopt(fd, unix.XDP_UMEM_REG, unsafe.Pointer(&reg), unsafe.Sizeof(reg))
}

func (linux) offsets(fd int) (off unix.XDPMmapOffsets, err error) {
	n := uint32(unsafe.Sizeof(off))
	if err := getsockopt(fd, unix.XDP_MMAP_OFFSETS, unsafe.Pointer(&off), &n); err != nil {
		return off, err
	}
	return off, sized("ring offsets", n, uint32(unsafe.Sizeof(off)))
}

func (linux) statistics(fd int) (st unix.XDPStatistics, err error) {
	n := uint32(unsafe.Sizeof(st))
	return st, getsockopt(fd, unix.XDP_STATISTICS, unsafe.Pointer(&st), &n)
}

func setsockopt(fd, option int, p unsafe.Pointer, n uintptr) error {
	if _, _, e := unix.Syscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_XDP, uintptr(option), uintptr(p), n, 0); e != 0 {
		return os.NewSyscallError("setsockopt", e)
	}
	return nil
}

func getsockopt(fd, option int, p unsafe.Pointer, n *uint32) error {
	if _, _, e := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_XDP, uintptr(option), uintptr(p), uintptr(unsafe.Pointer(n)), 0); e != 0 {
		return os.NewSyscallError("getsockopt", e)
	}
	return nil
}

// shared finds the parts of a mapped ring of n entries. The mapping starts on a
// page and the kernel aligns the parts within it.
func shared[T any](mem []byte, off unix.XDPRingOffset, n int) ring.Shared[T] {
	return ring.Shared[T]{
		Producer: (*uint32)(unsafe.Pointer(&mem[off.Producer])),
		Consumer: (*uint32)(unsafe.Pointer(&mem[off.Consumer])),
		Flags:    (*uint32)(unsafe.Pointer(&mem[off.Flags])),
		Entries:  unsafe.Slice((*T)(unsafe.Pointer(&mem[off.Desc])), n),
	}
}

// ringBytes is the length of the mapping of a ring of n entries.
func ringBytes[T any](off unix.XDPRingOffset, n int) int {
	var entry T
	return int(off.Desc) + n*int(unsafe.Sizeof(entry))
}
