package traffic

import (
	"fmt"
	"net"
	"net/netip"
)

// Port is the UDP port that every flow goes to. The receiver binds it, lest the
// kernel answer with port unreachable.
const Port = 40000

// firstPort is the UDP source port of flow 0.
const firstPort = 2048

// MaxFlows keeps source ports below Port.
const MaxFlows = Port - firstPort

// End is an interface that frames leave from or arrive at.
type End struct {
	Interface  string
	MAC        net.HardwareAddr
	Addr       [2]netip.Addr // IPv4, IPv6
	GatewayMAC net.HardwareAddr
	// Do runs a function on a thread in the interface's network namespace; nil
	// runs it here.
	Do func(func() error) error
}

func (e End) do(f func() error) error {
	if e.Do == nil {
		return f()
	}
	return e.Do(f)
}

// Load is what is sent.
type Load struct {
	// Seed makes the run's number and the payloads; print it.
	Seed uint64
	// Flows: even ones are IPv4, odd ones IPv6, unless Only is set.
	Flows int
	Only  int // 4 or 6; 0 is both
	// Frames in all, sent round robin over the flows.
	Frames int
	// Rate in frames per second.
	Rate int
	// Sizes are frame lengths without FCS, taken in turn by the flows; each is
	// raised to what the headers need (58 for IPv4, 78 for IPv6). Empty: 60, 128,
	// 576, 1514.
	Sizes []int
	// TTL as sent; 0 means 64.
	TTL uint8
}

func (l Load) check() (Load, error) {
	if l.TTL == 0 {
		l.TTL = 64
	}
	if len(l.Sizes) == 0 {
		l.Sizes = []int{60, 128, 576, 1514}
	}
	switch {
	case l.Flows < 1 || l.Flows > MaxFlows:
		return l, fmt.Errorf("%d flows: 1 to %d are possible", l.Flows, MaxFlows)
	case l.Frames < 1 || l.Rate < 1:
		return l, fmt.Errorf("a load of %d frames at %d frames a second sends nothing", l.Frames, l.Rate)
	case l.Only != 0 && l.Only != 4 && l.Only != 6:
		return l, fmt.Errorf("no IP version %d", l.Only)
	}
	return l, nil
}

// v6 says whether a flow is IPv6.
func (l Load) v6(flow int) bool {
	if l.Only != 0 {
		return l.Only == 6
	}
	return flow%2 == 1
}
