package policy

import (
	"errors"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/nl"
)

// Numbers of include/uapi/linux/xfrm.h, which x/sys does not name.
const (
	xfrmGetPolicy  = 0x15
	xfrmGetDefault = 0x28

	// Places in struct xfrm_userpolicy_info: the selector's family (u16 after two
	// addresses of 16 bytes and four u16 of ports), and the direction (u8 after the
	// selector of 56 bytes, lifetimes of 64 and 32, priority and index).
	xfrmFamilyAt = 40
	xfrmDirAt    = 56 + 64 + 32 + 4 + 4

	xfrmPolicyMax   = 3 // directions from here on belong to one socket
	xfrmBlock       = 1 // XFRM_USERPOLICY_BLOCK
	sizeofXfrmInfo  = 168
	sizeofXfrmQuery = 64 // struct xfrm_userpolicy_id
)

func (r *Reader) readXFRM(f *Facts) error {
	if r.xfrm == nil {
		if !Present(unix.NETLINK_XFRM) {
			return nil
		}
		c, err := nl.Dial(unix.NETLINK_XFRM)
		if err != nil {
			return err
		}
		r.xfrm = c
	}
	begin := func() { f.Policies = Policies{} }
	err := r.xfrm.Dump(xfrmGetPolicy, make([]byte, sizeofXfrmQuery), begin, func(m nl.Message) error {
		if len(m.Data) < sizeofXfrmInfo {
			return errors.New("short policy")
		}
		if m.Data[xfrmDirAt] >= xfrmPolicyMax {
			return nil
		}
		switch nl.U16(m.Data[xfrmFamilyAt:]) {
		case unix.AF_INET:
			f.Policies.IPv4++
		case unix.AF_INET6:
			f.Policies.IPv6++
		default:
			f.Policies.IPv4++
			f.Policies.IPv6++
		}
		return nil
	})
	if err != nil {
		return err
	}
	// struct xfrm_userpolicy_default: u8 in, fwd, out. A kernel before 5.15 has no
	// defaults to ask for.
	err = r.xfrm.Get(xfrmGetDefault, make([]byte, 4), func(m nl.Message) error {
		for i, dir := range []string{"in", "fwd", "out"} {
			if m.Type == xfrmGetDefault && i < len(m.Data) && m.Data[i] == xfrmBlock {
				f.Policies.Block = append(f.Policies.Block, dir)
			}
		}
		return nil
	})
	if errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}
