package policy

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/nl"
)

// Attributes of include/uapi/linux/netfilter/nf_tables.h that x/sys does not name.
const (
	hookDevs       = 4 // NFTA_HOOK_DEVS
	deviceName     = 1 // NFTA_DEVICE_NAME
	devicePrefix   = 2 // NFTA_DEVICE_PREFIX
	flowtableTable = 1 // NFTA_FLOWTABLE_TABLE…
	flowtableName  = 2
	flowtableHook  = 3
	flowtableDevs  = 3 // NFTA_FLOWTABLE_HOOK_DEVS

	sizeofNfgenmsg = 4 // u8 family, u8 version, be16 resource
)

func (r *Reader) readNetfilter(f *Facts) (chains, flowtables error) {
	f.Chains, f.Flowtables = nil, nil
	if r.netfilter == nil {
		if !Present(unix.NETLINK_NETFILTER) {
			return nil, nil
		}
		c, err := nl.Dial(unix.NETLINK_NETFILTER)
		if err != nil {
			return err, err
		}
		r.netfilter = c
	}
	dump := func(msg uint16, begin func(), each func(family byte, attrs []byte)) error {
		typ := uint16(unix.NFNL_SUBSYS_NFTABLES)<<8 | msg
		err := r.netfilter.Dump(typ, make([]byte, sizeofNfgenmsg), begin, func(m nl.Message) error {
			if len(m.Data) >= sizeofNfgenmsg {
				each(m.Data[0], m.Data[sizeofNfgenmsg:])
			}
			return nil
		})
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP) {
			return nil // nfnetlink without nf_tables (nfnetlink_rcv_msg)
		}
		return err
	}
	chains = dump(unix.NFT_MSG_GETCHAIN, func() { f.Chains = nil }, func(family byte, b []byte) {
		if c, base := parseChain(family, b); base {
			f.Chains = append(f.Chains, c)
		}
	})
	flowtables = dump(unix.NFT_MSG_GETFLOWTABLE, func() { f.Flowtables = nil }, func(_ byte, b []byte) {
		f.Flowtables = append(f.Flowtables, parseFlowtable(b))
	})
	return chains, flowtables
}

// parseChain decodes a chain; base is false for one that only others jump to.
// nf_tables writes numbers in network order.
func parseChain(family byte, b []byte) (c Chain, base bool) {
	c.Family = family
	c.Uses = ^uint32(0) // unless told
	at := nl.Attributes(b)
	for typ, v, ok := at.Next(); ok; typ, v, ok = at.Next() {
		switch typ {
		case unix.NFTA_CHAIN_TABLE:
			c.Table = nl.Text(v)
		case unix.NFTA_CHAIN_NAME:
			c.Name = nl.Text(v)
		case unix.NFTA_CHAIN_POLICY:
			c.Accept = be32(v) == 1 // NF_ACCEPT
		case unix.NFTA_CHAIN_USE:
			c.Uses = be32(v)
		case unix.NFTA_CHAIN_HOOK:
			base = true
			hk := nl.Attributes(v)
			for typ, v, ok := hk.Next(); ok; typ, v, ok = hk.Next() {
				switch typ {
				case unix.NFTA_HOOK_HOOKNUM:
					c.Hook = be32(v)
				case unix.NFTA_HOOK_DEV:
					c.Devices = append(c.Devices, nl.Text(v))
				case hookDevs:
					c.Devices = append(c.Devices, deviceList(v)...)
				}
			}
		}
	}
	return c, base
}

func parseFlowtable(b []byte) (t Flowtable) {
	at := nl.Attributes(b)
	for typ, v, ok := at.Next(); ok; typ, v, ok = at.Next() {
		switch typ {
		case flowtableTable:
			t.Table = nl.Text(v)
		case flowtableName:
			t.Name = nl.Text(v)
		case flowtableHook:
			if d, ok := nl.Find(v, flowtableDevs); ok {
				t.Devices = deviceList(d)
			}
		}
	}
	return t
}

// deviceList reads names; a prefix becomes one that ends in *.
func deviceList(b []byte) (names []string) {
	at := nl.Attributes(b)
	for typ, v, ok := at.Next(); ok; typ, v, ok = at.Next() {
		switch typ {
		case deviceName:
			names = append(names, nl.Text(v))
		case devicePrefix:
			names = append(names, nl.Text(v)+"*")
		}
	}
	return names
}

func be32(b []byte) uint32 {
	if len(b) < 4 {
		return 0
	}
	return binary.BigEndian.Uint32(b)
}

func u32(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }
