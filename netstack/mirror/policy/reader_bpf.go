package policy

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// readTCX counts tcx programs. A kernel before 6.6 knows no such attachment and
// says EINVAL.
func readTCX(f *Facts, of []uint32) error {
	f.TCX = make(map[Place]int)
	for _, index := range of {
		for _, at := range []struct {
			typ ebpf.AttachType
			out bool
		}{{ebpf.AttachTCXIngress, false}, {ebpf.AttachTCXEgress, true}} {
			res, err := link.QueryPrograms(link.QueryOptions{Target: int(index), Attach: at.typ})
			switch {
			case err == nil:
				f.TCX[Place{index, at.out}] = len(res.Programs)
			case errors.Is(err, unix.ENODEV), errors.Is(err, unix.EINVAL), errors.Is(err, ebpf.ErrNotSupported):
			default:
				return fmt.Errorf("interface %d: %w", index, err)
			}
		}
	}
	return nil
}

// readHooks finds netfilter BPF programs among the kernel's BPF links. A kernel
// without BPF links has none.
func readHooks(f *Facts) error {
	f.Hooks = nil
	var it link.Iterator
	defer it.Close()
	for it.Next() {
		info, err := it.Link.Info()
		if err != nil {
			return err
		}
		if info.Type != link.NetfilterType {
			continue
		}
		n := info.Netfilter()
		if n == nil {
			return errors.New("the kernel does not tell where one is")
		}
		f.Hooks = append(f.Hooks, Hook{Family: byte(n.ProtocolFamily), Hook: uint32(n.Hook)})
	}
	err := it.Err()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, ebpf.ErrNotSupported) {
		return nil
	}
	return err
}
