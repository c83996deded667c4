package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"weir/init/report"
	"weir/netstack/status"
)

// page is the status for people.
func page(d statusDocument) string {
	var b strings.Builder
	section := func(title, body string) {
		if body != "" {
			fmt.Fprintf(&b, "\n%s\n%s", title, body)
		}
	}
	b.WriteString(head(d))
	for _, e := range d.Errors {
		b.WriteString(wrap("", e))
	}
	section("PORTS", ports(d))
	if f := d.Forwarder; f != nil {
		section("WORKERS", workers(f))
		section("FRAMES BY TIER", tiers(f.Tiers))
		section("LEFT TO THE KERNEL", reasons(f, func(w status.Worker) map[string]uint64 { return w.Punts }, true))
		section("DROPPED", reasons(f, func(w status.Worker) map[string]uint64 { return w.Drops }, false))
		section("FORWARDING STATE", state(f))
	}
	if r := d.Boot; r != nil {
		section("SERVICES", services(r.Services))
		section("BOOT", steps(r))
	}
	return b.String()
}

// head says what and where, and what is wrong as a whole.
func head(d statusDocument) string {
	var b strings.Builder
	if r := d.Boot; r != nil {
		b.WriteString(wrap("", fmt.Sprintf("weir %s on %s, kernel %s, host %s", or(r.Version, "?"), or(r.Board, "an unknown board"), or(r.Kernel, "?"), or(r.Hostname, "?"))))
		b.WriteString(wrap("", "configuration: "+or(r.Config, "none")))
		for _, f := range r.Faults {
			b.WriteString(wrap("  ", f))
		}
	}
	if f := d.Forwarder; f != nil {
		b.WriteString(wrap("", fmt.Sprintf("forwarder %s, process %d, up %s", or(f.Version, "?"), f.PID, uptime(f.UptimeSec))))
	} else if pid := forwarderPID(d.Boot); pid != 0 {
		fmt.Fprintf(&b, "forwarder: process %d runs, but does not answer\n", pid)
	} else {
		b.WriteString("forwarder: not running, the kernel forwards alone\n")
	}
	return b.String()
}

// forwarderPID is the forwarder's process by the word of process 1, 0 for none.
func forwarderPID(r *report.Report) int {
	if r != nil {
		for _, s := range r.Services {
			if s.Name == "forwarder" {
				return s.PID
			}
		}
	}
	return 0
}

func uptime(s float64) string {
	if !(s >= 0 && s < 1e12) { // a number that no clock gives
		return "?"
	}
	n := int64(s)
	switch {
	case n < 60:
		return fmt.Sprintf("%.1f s", s)
	case n < 3600:
		return fmt.Sprintf("%d min %d s", n/60, n%60)
	case n < 86400:
		return fmt.Sprintf("%d h %d min", n/3600, n/60%60)
	}
	return fmt.Sprintf("%d d %d h", n/86400, n/3600%24)
}

// ports joins what the boot and the forwarder know of each port.
func ports(d statusDocument) string {
	type both struct {
		boot *report.Port
		fwd  *status.Port
	}
	var names []string
	all := map[string]*both{}
	get := func(name string) *both {
		if all[name] == nil {
			all[name] = &both{}
			names = append(names, name)
		}
		return all[name]
	}
	if d.Boot != nil {
		for i := range d.Boot.Ports {
			p := &d.Boot.Ports[i]
			get(p.Label).boot = p
		}
	}
	if d.Forwarder != nil {
		for i := range d.Forwarder.Ports {
			p := &d.Forwarder.Ports[i]
			get(p.Name).fwd = p
		}
	}
	if len(names) == 0 {
		return "none\n"
	}
	var t grid
	notes := make([]string, len(names))
	t.row("port", "link", "tier", "xdp", "fast", "queues", "mtu", "driver", "mac")
	for i, name := range names {
		b, f := all[name].boot, all[name].fwd
		link, tier, mode, fast, queues, mtu, driver, mac := "?", "kernel", "-", "-", "-", "", "", ""
		if b != nil {
			link, mtu, driver, mac = "no carrier", fmt.Sprint(b.MTU), b.Driver, b.MAC
			if b.Carrier {
				link = "up"
			}
			if b.Kernel == "" {
				link, tier, mtu = "missing", "-", "-"
			}
			if len(b.Address) > 0 {
				notes[i] += wrap("  ", strings.Join(b.Address, " "))
			}
			for _, e := range b.Errors {
				notes[i] += wrap("  fault: ", e)
			}
		}
		if f != nil {
			tier, mode = or(f.Tier, "?"), or(f.Mode, "-")
			queues = fmt.Sprintf("%d rx %d tx", f.RXQueues, f.TXQueues)
			mtu, driver, mac = fmt.Sprint(f.MTU), or(f.Driver, driver), or(f.MAC, mac)
			fast = families(f)
			if f.TierWhy != "" {
				notes[i] += wrap("  tier "+printable(tier)+": ", f.TierWhy)
			}
			for _, s := range f.Slow {
				notes[i] += wrap("  by the kernel: ", s)
			}
		} else if d.Forwarder != nil && link != "missing" {
			notes[i] += "  not under the forwarder\n"
		}
		t.row(name, link, tier, mode, fast, queues, mtu, or(driver, "-"), or(mac, "-"))
	}
	// Notes follow their port's line.
	lines := strings.SplitAfter(t.String(), "\n")
	var s strings.Builder
	s.WriteString(lines[0])
	for i := range names {
		s.WriteString(lines[i+1] + notes[i])
	}
	return s.String()
}

func families(f *status.Port) string {
	switch {
	case f.Fast4 && f.Fast6:
		return "v4 v6"
	case f.Fast4:
		return "v4"
	case f.Fast6:
		return "v6"
	}
	return "none"
}

func workers(f *status.Status) string {
	if len(f.Workers) == 0 {
		return "none, the kernel forwards alone\n"
	}
	var t grid
	t.row("worker", "cpu", "received", "forwarded", "handed over", "punted", "dropped", "batches", "buffers")
	for _, w := range f.Workers {
		t.row(fmt.Sprint(w.ID), fmt.Sprint(w.CPU), count(w.RX), count(w.Forwarded), count(w.HandedOver),
			count(sum(w.Punts)), count(sum(w.Drops)), count(w.Batches), fmt.Sprint(w.Frames))
	}
	return t.String()
}

func tiers(m map[string]uint64) string {
	total := 0.0 // counters near their limit must not wrap here
	for _, n := range m {
		total += float64(n)
	}
	var t grid
	t.row("tier", "frames", "share")
	known := []string{"xdp", "worker", "kernel"}
	for _, name := range sortedKeys(m) {
		if !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	for _, name := range known {
		if n, ok := m[name]; ok {
			t.row(name, count(n), percent(n, total))
		}
	}
	if len(t.rows) == 1 {
		return ""
	}
	return t.String()
}

// sum adds up, and stays at the most there can be.
func sum(m map[string]uint64) (total uint64) {
	for _, n := range m {
		if total+n < total {
			return ^uint64(0)
		}
		total += n
	}
	return total
}

// reasons counts by reason, with where each was counted; the most first.
func reasons(f *status.Status, of func(status.Worker) map[string]uint64, byPort bool) string {
	total := map[string]uint64{}
	where := map[string][]string{}
	add := func(m map[string]uint64, place string) {
		for _, r := range sortedKeys(m) {
			if m[r] > 0 {
				total[r] = sum(map[string]uint64{"": total[r], " ": m[r]})
				where[r] = append(where[r], place+" "+count(m[r]))
			}
		}
	}
	if byPort {
		for _, p := range f.Ports {
			add(p.Punts, p.Name)
		}
	}
	for _, w := range f.Workers {
		add(of(w), fmt.Sprintf("worker %d", w.ID))
	}
	if len(total) == 0 {
		return "none\n"
	}
	names := sortedKeys(total)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(total[b], total[a]) })
	var t grid
	t.row("reason", "frames", "counted at")
	for _, r := range names {
		t.row(r, count(total[r]), strings.Join(where[r], ", "))
	}
	return t.String()
}

func state(f *status.Status) string {
	jit := fmt.Sprintf("compiled to %d bytes", f.XDP.JitedSize)
	if f.XDP.JitedSize == 0 {
		jit = "interpreted, which is slow: set net.core.bpf_jit_enable=1 before the forwarder starts"
	}
	prog := "no XDP program is loaded"
	if f.XDP.ID != 0 {
		prog = fmt.Sprintf("XDP program %d, %s, lease %s", f.XDP.ID, jit, map[bool]string{true: "in force", false: "run out"}[f.XDP.Lease])
		if f.XDP.TookOver {
			prog += ", taken over from an earlier forwarder"
		}
	}
	return wrap("", fmt.Sprintf("generation %d: %d IPv4 and %d IPv6 routes, %d next hops; last change in force after %d µs; %d resyncs",
		f.Generation, f.Table.Routes4, f.Table.Routes6, f.Table.NextHops, f.Table.ApplyMicros, f.Table.Resyncs)) + wrap("", prog)
}

func services(all []report.Service) string {
	if len(all) == 0 {
		return "none\n"
	}
	var t grid
	t.row("service", "state", "process", "restarts", "last end")
	for _, s := range all {
		state, pid := "starting", fmt.Sprint(s.PID)
		switch {
		case s.PID == 0:
			state, pid = "not running", "-"
		case s.Ready:
			state = "ready"
		}
		t.row(s.Name, state, pid, fmt.Sprint(s.Restarts), or(s.LastExit, "-"))
	}
	return t.String()
}

func steps(r *report.Report) string {
	var t grid
	t.row("step", "at", "took")
	notes := make([]string, len(r.Steps))
	for i, s := range r.Steps {
		t.row(s.Name, seconds(s.StartMS), seconds(s.TookMS))
		for _, e := range s.Errors {
			notes[i] += wrap("  fault: ", e)
		}
	}
	lines := strings.SplitAfter(t.String(), "\n")
	var b strings.Builder
	b.WriteString(lines[0])
	for i := range r.Steps {
		b.WriteString(lines[i+1] + notes[i])
	}
	if !r.Done {
		b.WriteString("not finished yet\n")
	}
	return b.String()
}
