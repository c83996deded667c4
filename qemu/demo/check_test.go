package demo

import (
	"strings"
	"testing"

	"weir/netstack/status"
	"weir/qemu/lab"
	"weir/qemu/traffic"
)

func good() *Result {
	st := func(f0, f1 uint64) *status.Status {
		return &status.Status{PID: 9,
			Workers: []status.Worker{{ID: 0, Forwarded: f0}, {ID: 1, Forwarded: f1}},
			Ports:   []status.Port{{Name: "lan", RXQueues: 2, Sockets: []status.Socket{{Queue: 0, Worker: 0}, {Queue: 1, Worker: 1}}}}}
	}
	return &Result{
		Pings:  []Ping{{Family: 4, Sent: 10, Received: 10, TTL: []int{63}}},
		Iperf:  []Iperf{{Protocol: "UDP", Packets: 100}, {Protocol: "TCP", Mbits: 1}},
		Load:   &traffic.Result{Sent: 1000, Received: 1000},
		Before: st(50, 60), After: st(550, 540),
	}
}

// Each condition of success, broken alone, fails the demo and is named.
func TestChecks(t *testing.T) {
	host := &lab.Lab{Client: &lab.Host{GatewayPort: "lan"}}
	r := good()
	if r.check(host); !r.OK() {
		t.Fatalf("a good run fails: %+v", r.Checks)
	}
	cases := map[string]func(*Result){
		"ping IPv4 without loss":          func(r *Result) { r.Pings[0].Received = 9 },
		"TTL one less":                    func(r *Result) { r.Pings[0].TTL = []int{63, 64} },
		"UDP":                             func(r *Result) { r.Iperf[0].Lost = 1 },
		"TCP":                             func(r *Result) { r.Iperf[1].Mbits = 0 },
		"load without loss":               func(r *Result) { r.Load.Lost = 1 },
		"load: TTL":                       func(r *Result) { r.Load.WrongTTL = 1 },
		"at least 95 % of the load":       func(r *Result) { r.After.Workers[0].Forwarded -= 41 },
		"worker 1 did work":               func(r *Result) { r.After.Workers[1].Forwarded = 60 },
		"one forwarder from start to end": func(r *Result) { r.After.PID = 10 },
		"forwarder answers":               func(r *Result) { r.After = nil },
		"worker 0 did work":               func(r *Result) { r.After.Ports[0].Sockets = nil; r.After.Workers[0].Forwarded = 50 },
	}
	for name, spoil := range cases {
		r := good()
		spoil(r)
		r.check(host)
		found := false
		for _, c := range r.Checks {
			found = found || (!c.OK && strings.Contains(c.Name, name))
		}
		if !found || r.OK() {
			t.Errorf("%s: not found out: %+v", name, r.Checks)
		}
	}
	if (&Result{}).OK() {
		t.Error("a run without checks passes")
	}
}
