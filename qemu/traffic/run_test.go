package traffic

import (
	"testing"

	"github.com/vishvananda/netlink"

	"weir/internal/testenv"
)

// Over a plain wire everything arrives, unrouted: TTL and MACs show it.
func TestRunOverAWire(t *testing.T) {
	testenv.Namespace(t)
	if err := netlink.LinkAdd(&netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: here.Interface, HardwareAddr: here.MAC},
		PeerName:  there.Interface, PeerHardwareAddr: there.MAC}); err != nil {
		testenv.Missing(t, "no veth pair: %v", err)
	}
	for _, n := range []string{here.Interface, there.Interface} {
		l, err := netlink.LinkByName(n)
		if err == nil {
			err = netlink.LinkSetUp(l)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	// The ends' threads have to be in the test's namespace.
	from, to := here, there
	from.Do, to.Do = stay(t), stay(t)
	from.GatewayMAC, to.GatewayMAC = there.MAC, here.MAC
	r, err := Run(t.Context(), from, to, Load{Seed: 3, Flows: 100, Frames: 1000, Rate: 20000})
	if err != nil {
		t.Fatal(err)
	}
	if r.Lost != 0 || r.Received != 1000 || r.FlowsSeen != 100 || r.WrongTTL != 1000 || r.WrongMAC+r.BadChecksum+r.Corrupted+r.Reordered != 0 {
		t.Errorf("%v", r.Err())
	}
}
