package demo

import (
	"slices"
	"testing"
)

func TestParsePing(t *testing.T) {
	p, err := parsePing(`PING 192.0.2.2 (192.0.2.2) 56(84) bytes of data.
64 bytes from 192.0.2.2: icmp_seq=1 ttl=63 time=12.7 ms
64 bytes from 192.0.2.2: icmp_seq=2 ttl=64 time=1.17 ms

--- 192.0.2.2 ping statistics ---
3 packets transmitted, 2 received, 33.3333% packet loss, time 401ms
rtt min/avg/max/mdev = 1.167/5.251/12.660/5.248 ms
`)
	if err != nil || p.Sent != 3 || p.Received != 2 || !slices.Equal(p.TTL, []int{63, 64}) || p.RTT != "5.251" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := parsePing("ping: unknown host"); err == nil {
		t.Error("no error for an answer without counts")
	}
}

func TestParseIperf(t *testing.T) {
	udp, err := parseIperf(`{"end":{"sum":{"bits_per_second":4000000,"lost_packets":2,"packets":1250},"sum_received":{"bits_per_second":3990000}}}`, Iperf{Protocol: "UDP"})
	if err != nil || udp.Packets != 1250 || udp.Lost != 2 || udp.Mbits != 3.99 {
		t.Errorf("%+v, %v", udp, err)
	}
	if _, err := parseIperf(`{"error":"unable to connect"}`, Iperf{}); err == nil {
		t.Error("iperf3's own error is none")
	}
	if _, err := parseIperf(`iperf3: not found`, Iperf{}); err == nil {
		t.Error("no JSON, no error")
	}
}
