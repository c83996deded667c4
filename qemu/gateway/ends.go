package gateway

import (
	"net/netip"

	"weir/qemu/lab"
	"weir/qemu/traffic"
)

// End is a host as traffic sees it.
func End(h *lab.Host) traffic.End {
	return traffic.End{Interface: h.Interface, MAC: h.MAC, GatewayMAC: h.GatewayMAC, Do: h.Do,
		Addr: [2]netip.Addr{h.Addr[0].Addr(), h.Addr[1].Addr()}}
}
