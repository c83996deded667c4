package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"weir/netstack/status"
)

// Print writes the tables for a person.
func (r *Result) Print(w io.Writer) error {
	t := &table{tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)}
	t.title("Machine")
	t.row(r.Board, r.Machine)
	t.row("lab", r.Lab)
	if r.Boot != nil {
		t.row("image", "Weir "+r.Boot.Version+", kernel "+r.Boot.Kernel+", configuration: "+r.Boot.Config)
		t.title("Boot", "started at", "took")
		if len(r.Boot.Steps) > 0 {
			t.row("kernel", "0 ms", ms(r.Boot.Steps[0].StartMS))
		}
		for _, s := range r.Boot.Steps {
			t.row(s.Name, ms(s.StartMS), ms(s.TookMS), strings.Join(s.Errors, "; "))
		}
		t.row("up", ms(r.UpMS))
	}
	if r.After != nil {
		r.ports(t)
	}
	r.traffic(t)
	if r.After != nil {
		if r.Before == nil { // it ended before the load: all that was
			r.Before = &status.Status{}
		}
		r.tiers(t)
	}
	if len(r.Checks) > 0 {
		t.title("Checks")
	}
	for _, c := range r.Checks {
		mark := "ok"
		if !c.OK {
			mark = "FAILED"
		}
		t.row(mark, c.Name, c.Detail)
	}
	return t.Flush()
}

func (r *Result) ports(t *table) {
	t.title("Port", "driver", "tier", "mode", "queues", "received by queue (all traffic)")
	for _, p := range r.After.Ports {
		var q []string
		for _, s := range p.Sockets {
			q = append(q, fmt.Sprintf("%d: %d to worker %d", s.Queue, s.RX, s.Worker))
		}
		t.row(p.Name, p.Driver, p.Tier, p.Mode, fmt.Sprintf("%d rx, %d tx", p.RXQueues, p.TXQueues), strings.Join(q, "; "))
	}
	// Apart from the table: sentences would make its columns wide.
	for _, p := range r.After.Ports {
		if p.TierWhy != "" {
			t.note("%s is on tier %s: %s", p.Name, p.Tier, p.TierWhy)
		}
		for _, slow := range p.Slow {
			t.note("%s leaves to the kernel: %s", p.Name, slow)
		}
	}
}

func (r *Result) traffic(t *table) {
	t.title("Traffic", "", "result", "lost")
	for _, p := range r.Pings {
		t.row(fmt.Sprintf("ping IPv%d", p.Family), ToServer, fmt.Sprintf("%s ms, TTL %v at the client", p.RTT, p.TTL), fmt.Sprintf("%d of %d", p.Sent-p.Received, p.Sent))
	}
	for _, i := range r.Iperf {
		lost := "-"
		if i.Protocol == "UDP" {
			lost = fmt.Sprintf("%d of %d", i.Lost, i.Packets)
		}
		t.row(fmt.Sprintf("%s IPv%d", i.Protocol, i.Family), i.Direction, fmt.Sprintf("%.1f Mbit/s", i.Mbits), lost)
	}
	if l := r.Load; l != nil {
		t.row("load", ToServer, fmt.Sprintf("%d flows, %d of them seen, %d frames/s, seed %d", l.Flows, l.FlowsSeen, r.LoadRate, l.Seed), fmt.Sprintf("%d of %d", l.Lost, l.Sent))
		if n := r.LabDropped; n[0]+n[1] > 0 {
			t.note("the lab itself dropped %d frames of the client and %d of the server: this machine is too busy", n[0], n[1])
		}
		for _, e := range l.Examples {
			t.note("load: %s", e)
		}
	}
}

// tiers shows what the load did to the forwarder's counters.
func (r *Result) tiers(t *table) {
	t.title("Load by tier", "frames")
	for _, k := range keys(r.After.Tiers) {
		t.row(k, fmt.Sprint(r.After.Tiers[k]-r.Before.Tiers[k]))
	}
	t.title("Load by worker", "CPU", "received", "forwarded", "batches", "polls")
	old := map[int]status.Worker{}
	for _, w := range r.Before.Workers {
		old[w.ID] = w
	}
	punts, drops, allPunts, allDrops := map[string]uint64{}, map[string]uint64{}, map[string]uint64{}, map[string]uint64{}
	for _, w := range r.After.Workers {
		o := old[w.ID]
		t.row(fmt.Sprintf("worker %d", w.ID), fmt.Sprint(w.CPU), fmt.Sprint(w.RX-o.RX), fmt.Sprint(w.Forwarded-o.Forwarded), fmt.Sprint(w.Batches-o.Batches), fmt.Sprint(w.Polls-o.Polls))
		add(punts, w.Punts, o.Punts)
		add(drops, w.Drops, o.Drops)
		add(allPunts, w.Punts, nil)
		add(allDrops, w.Drops, nil)
	}
	oldPort := map[string]status.Port{}
	for _, p := range r.Before.Ports {
		oldPort[p.Name] = p
	}
	for _, p := range r.After.Ports {
		add(punts, p.Punts, oldPort[p.Name].Punts)
		add(allPunts, p.Punts, nil)
	}
	t.title("Not forwarded by workers", "during the load", "in all", "why")
	none := true
	for _, m := range []struct {
		what      string
		load, all map[string]uint64
	}{{"left to the kernel", punts, allPunts}, {"dropped by Weir", drops, allDrops}, {"dropped before a worker", r.missed(r.Before, r.After), r.missed(nil, r.After)}} {
		for _, k := range keys(m.all) {
			if m.all[k] > 0 {
				t.row(m.what, fmt.Sprint(m.load[k]), fmt.Sprint(m.all[k]), k)
				none = false
			}
		}
	}
	if none {
		t.row("none", "0", "0")
	}
}

// missed is what the kernel dropped between a port and its workers, by the
// counters of AF_XDP sockets.
func (r *Result) missed(before, after *status.Status) map[string]uint64 {
	n := map[string]uint64{}
	sum := func(s *status.Status, sign uint64) {
		if s == nil {
			return
		}
		for _, p := range s.Ports {
			for _, k := range p.Sockets {
				n["no room in the socket"] += sign * k.RXDropped
				n["receive ring full"] += sign * k.RXRingFull
				n["fill ring empty (may have been retried)"] += sign * k.FillEmpty
				n["descriptor refused on transmission"] += sign * k.TXInvalid
			}
		}
	}
	sum(after, 1)
	sum(before, ^uint64(0))
	return n
}

func add(sum, after, before map[string]uint64) {
	for k, n := range after {
		sum[k] += n - before[k]
	}
}

func keys(m map[string]uint64) []string {
	var ks []string
	for k := range m {
		ks = append(ks, k)
	}
	slices.Sort(ks)
	return ks
}

func ms(n int64) string { return fmt.Sprintf("%d ms", n) }

type table struct{ *tabwriter.Writer }

// title begins a block; columns align within it.
func (t *table) title(cells ...string) {
	t.Flush()
	fmt.Fprintf(t, "\n%s\n", strings.Join(cells, "\t"))
}

func (t *table) row(cells ...string) {
	fmt.Fprintf(t, "  %s\n", strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

// note ends the block with a line that has no columns.
func (t *table) note(format string, args ...any) {
	t.Flush()
	fmt.Fprintf(t, "  %s\n", fmt.Sprintf(format, args...))
}
