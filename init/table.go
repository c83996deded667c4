package main

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"weir/init/report"
)

// table is the boot in a few lines.
func table(r report.Report) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s on %s, kernel %s, configuration: %s\n", r.Version, or(r.Board, "an unknown board"), r.Kernel, or(r.Config, "none"))
	if len(r.Faults) > 0 {
		fmt.Fprintf(&s, "the configuration has %d faults, see `weir status`\n", len(r.Faults))
	}
	fmt.Fprintf(&s, "%-16s %9s %9s\n", "step", "at", "took")
	for _, st := range r.Steps {
		note := ""
		if n := len(st.Errors); n > 0 {
			note = fmt.Sprintf("  %d errors", n)
		}
		fmt.Fprintf(&s, "%-16s %7.2f s %7.2f s%s\n", st.Name, float64(st.StartMS)/1000, float64(st.TookMS)/1000, note)
	}
	for _, p := range r.Ports {
		link := "no carrier yet"
		if p.Carrier {
			link = "carrier"
		}
		if len(p.Errors) > 0 {
			link = p.Errors[0]
		}
		words := append([]string{or(p.Driver, "not found")}, p.Address...)
		fmt.Fprintf(&s, "port %s: %s, %s\n", p.Label, strings.Join(words, " "), link)
	}
	for _, sv := range r.Services {
		state := "running"
		switch {
		case sv.Ready:
			state = "ready"
		case sv.PID == 0:
			state = "not running: " + or(sv.LastExit, "not started")
		}
		fmt.Fprintf(&s, "service %s: %s\n", sv.Name, state)
	}
	fmt.Fprintf(&s, "random numbers: %s\n", random())
	return s.String()
}

// random tells whether the kernel's random numbers are ready, without waiting.
func random() string {
	var b [1]byte
	if _, err := unix.Getrandom(b[:], unix.GRND_NONBLOCK); err == unix.EAGAIN {
		return "not ready yet, nothing waited for them"
	}
	return "ready"
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
