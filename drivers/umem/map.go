package umem

import "golang.org/x/sys/unix"

// hugePage is the size that MAP_HUGETLB has by default on the architectures
// Weir runs on with 4 KiB pages. Where it differs the kernel refuses the length
// or rounds it, and ordinary pages are used.
const hugePage = 2 << 20

// mapMemory maps n bytes, present from the start: a page fault in the worker's
// loop would cost more than thousands of packets, and the kernel's own writes
// need the pages pinned anyway. It reports whether reserved huge pages are
// behind it.
func mapMemory(n int, huge bool) ([]byte, bool, error) {
	const prot, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
	if huge {
		if whole := (n + hugePage - 1) &^ (hugePage - 1); whole > 0 {
			// unix.Munmap wants the slice that unix.Mmap gave: the extra is in cap.
			if mem, err := unix.Mmap(-1, 0, whole, prot, flags|unix.MAP_POPULATE|unix.MAP_HUGETLB); err == nil {
				return mem[:n], true, nil
			}
		}
		mem, err := unix.Mmap(-1, 0, n, prot, flags)
		if err != nil {
			return nil, false, err
		}
		// Advice: a kernel without transparent huge pages says EINVAL, and the
		// memory is as good.
		_ = unix.Madvise(mem, unix.MADV_HUGEPAGE)
		if err := unix.Madvise(mem, unix.MADV_POPULATE_WRITE); err != nil { // Linux 5.14
			clear(mem)
		}
		return mem, false, nil
	}
	mem, err := unix.Mmap(-1, 0, n, prot, flags|unix.MAP_POPULATE)
	return mem, false, err
}

func unmapMemory(mem []byte) error { return unix.Munmap(mem[:cap(mem)]) }
