package demo

import (
	"fmt"
	"slices"

	"weir/netstack/status"
	"weir/qemu/lab"
)

// fastShare of the load's frames must have been forwarded by workers.
const fastShare = 0.95

// check fills in the conditions of success.
func (r *Result) check(l *lab.Lab) {
	add := func(name string, ok bool, format string, args ...any) {
		r.Checks = append(r.Checks, Check{name, ok, fmt.Sprintf(format, args...)})
	}
	for _, p := range r.Pings {
		add(fmt.Sprintf("ping IPv%d without loss", p.Family), p.Sent > 0 && p.Received == p.Sent, "%d of %d", p.Received, p.Sent)
		add(fmt.Sprintf("ping IPv%d: TTL one less", p.Family), slices.Equal(p.TTL, []int{63}), "%v, 63 expected", p.TTL)
	}
	for _, i := range r.Iperf {
		if i.Protocol == "UDP" {
			add(fmt.Sprintf("UDP IPv%d %s without loss", i.Family, i.Direction), i.Packets > 0 && i.Lost == 0, "%d of %d lost at %g Mbit/s", i.Lost, i.Packets, i.Asked)
		} else {
			add(fmt.Sprintf("TCP IPv%d %s", i.Family, i.Direction), i.Mbits > 0, "%.1f Mbit/s", i.Mbits)
		}
	}
	add("load without loss, unchanged, in order", r.Load.Lost == 0 && r.Load.Duplicated+r.Load.Reordered+r.Load.Corrupted+r.Load.BadChecksum == 0, "%s", r.Load)
	add("load: TTL one less, the gateway's MAC", r.Load.WrongTTL+r.Load.WrongMAC == 0, "%d with another TTL, %d with another MAC", r.Load.WrongTTL, r.Load.WrongMAC)
	if r.Before == nil || r.After == nil {
		add("forwarder answers", false, "weir status has no forwarder")
		return
	}
	add("one forwarder from start to end", r.Before.PID == r.After.PID, "process %d before the load, %d after it", r.Before.PID, r.After.PID)
	fast := forwarded(r.Before, r.After)
	var sum uint64
	for _, n := range fast {
		sum += n
	}
	share := float64(sum) / float64(max(1, r.Load.Received))
	add(fmt.Sprintf("at least %g %% of the load through workers", fastShare*100), share >= fastShare, "%d of %d, %.1f %%", sum, r.Load.Received, share*100)
	for _, w := range receivers(r.After, l.Client.GatewayPort) {
		add(fmt.Sprintf("worker %d did work", w), fast[w] > 0, "forwarded %d frames of the load", fast[w])
	}
}

// forwarded is how many frames each worker forwarded between two documents.
func forwarded(before, after *status.Status) map[int]uint64 {
	d := map[int]uint64{}
	for _, w := range after.Workers {
		d[w.ID] = w.Forwarded
	}
	for _, w := range before.Workers {
		d[w.ID] -= w.Forwarded
	}
	return d
}

// receivers are the workers with a receive queue on a port; worker 0 if it has
// no socket, so that the check fails.
func receivers(s *status.Status, port string) []int {
	var ids []int
	for _, p := range s.Ports {
		for _, k := range p.Sockets {
			if p.Name == port && k.Queue < p.RXQueues && !slices.Contains(ids, k.Worker) {
				ids = append(ids, k.Worker)
			}
		}
	}
	if len(ids) == 0 {
		ids = []int{0}
	}
	slices.Sort(ids)
	return ids
}
