package demo

import (
	"weir/init/report"
	"weir/netstack/status"
	"weir/qemu/traffic"
)

// Result is all that a demo found out.
type Result struct {
	Board   string `json:"board"`
	Machine string `json:"machine"`
	// Lab says what the wires are made of, and why if not of taps.
	Lab    string         `json:"lab"`
	Queues int            `json:"queues"`
	Boot   *report.Report `json:"boot"`
	UpMS   int64          `json:"up_ms"` // since the guest's kernel started
	Pings  []Ping         `json:"pings"`
	Iperf  []Iperf        `json:"iperf"`
	// Load is the 1000-flow load, Before and After the forwarder's status around it.
	Load     *traffic.Result `json:"load"`
	LoadRate int             `json:"load_rate"`
	// LabDropped is what the client's and the server's ends of the wires dropped
	// on the way to the gateway, because QEMU did not fetch it in time.
	LabDropped [2]uint64      `json:"lab_dropped"`
	Before     *status.Status `json:"before"`
	After      *status.Status `json:"after"`
	Checks     []Check        `json:"checks"`
}

// Ping is one run of ping.
type Ping struct {
	Family   int    `json:"family"` // 4 or 6
	To       string `json:"to"`
	Sent     int    `json:"sent"`
	Received int    `json:"received"`
	TTL      []int  `json:"ttl"` // of the replies, each value once
	RTT      string `json:"rtt_ms"`
}

// Iperf is one run of iperf3.
type Iperf struct {
	Protocol  string  `json:"protocol"` // "TCP" or "UDP"
	Family    int     `json:"family"`
	Direction string  `json:"direction"` // "client to server" or "server to client"
	Mbits     float64 `json:"mbits"`     // as received
	Asked     float64 `json:"asked_mbits"`
	Packets   int     `json:"packets"` // UDP only
	Lost      int     `json:"lost"`    // UDP only
}

// Check is one condition of success.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// OK says whether all checks passed.
func (r *Result) OK() bool {
	for _, c := range r.Checks {
		if !c.OK {
			return false
		}
	}
	return len(r.Checks) > 0
}
