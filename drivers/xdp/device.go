package xdp

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
)

// deviceProgram asks rtnetlink which program is attached to an interface.
func deviceProgram(ifindex int) (ebpf.ProgramID, error) {
	l, err := netlink.LinkByIndex(ifindex)
	if err != nil {
		return 0, fmt.Errorf("interface %d: %w", ifindex, err)
	}
	if x := l.Attrs().Xdp; x != nil && x.Attached {
		return ebpf.ProgramID(x.ProgId), nil
	}
	return 0, nil
}

// deviceMode asks rtnetlink how (include/uapi/linux/if_link.h, XDP_ATTACHED_*).
func deviceMode(ifindex int) (Mode, error) {
	l, err := netlink.LinkByIndex(ifindex)
	if err != nil {
		return Detached, fmt.Errorf("interface %d: %w", ifindex, err)
	}
	x := l.Attrs().Xdp
	if x == nil || !x.Attached {
		return Detached, fmt.Errorf("interface %d: no XDP program is attached", ifindex)
	}
	if x.AttachMode == nl.XDP_ATTACHED_SKB {
		return Generic, nil
	}
	return Native, nil
}
