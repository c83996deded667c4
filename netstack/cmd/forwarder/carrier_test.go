package main

import (
	"fmt"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// carrierChanges reads IFLA_CARRIER_CHANGES, which the library leaves out.
func carrierChanges(t *testing.T, l netlink.Link) uint32 {
	t.Helper()
	req := nl.NewNetlinkRequest(unix.RTM_GETLINK, unix.NLM_F_ACK)
	msg := nl.NewIfInfomsg(unix.AF_UNSPEC)
	msg.Index = int32(l.Attrs().Index)
	req.AddData(msg)
	out, err := req.Execute(unix.NETLINK_ROUTE, 0)
	ok(t, err)
	for _, m := range out {
		attrs, err := nl.ParseRouteAttr(m[unix.SizeofIfInfomsg:])
		ok(t, err)
		for _, a := range attrs {
			if a.Attr.Type == unix.IFLA_CARRIER_CHANGES {
				return nl.NativeEndian().Uint32(a.Value)
			}
		}
	}
	t.Fatal(fmt.Errorf("the kernel tells no carrier changes of %s", l.Attrs().Name))
	return 0
}
