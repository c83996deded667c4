package lab

import (
	"fmt"
	"strings"
)

// GatewayConfig is the weir.toml that makes the guest the lab's gateway. tiers
// names the tier of each port by label; a port without one is "auto".
func (l *Lab) GatewayConfig(tiers map[string]string) []byte {
	var b strings.Builder
	b.WriteString("hostname = \"gw\"\n")
	for _, h := range []*Host{l.Client, l.Server} {
		tier := tiers[h.GatewayPort]
		if tier == "" {
			tier = "auto"
		}
		fmt.Fprintf(&b, "\n[[port]]\nmatch = { mac = %q }\nlabel = %q\ntier = %q\naddress = [\"%v/%d\", \"%v/%d\"]\n",
			h.GatewayMAC, h.GatewayPort, tier,
			h.Gateway[0], h.Addr[0].Bits(), h.Gateway[1], h.Addr[1].Bits())
	}
	return []byte(b.String())
}
