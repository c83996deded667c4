package gotest

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"weir/qemu/agent"
)

// summary judges and counts; several packages may end at a time.
type summary struct {
	mu         sync.Mutex
	out        io.Writer
	exclusions []exclusion
	strict     bool // a skip is a failure
	passed     int  // tests and subtests
	failed     int
	skipped    int
	excluded   int // top-level tests of the packages that ran
	bad        int // packages with a fault
}

// add judges a package by what its binary printed.
func (m *summary) add(s *suite, r agent.Response, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var faults []string
	var ran []string
	for _, v := range parse(string(r.Stdout)) {
		if !strings.Contains(v.name, "/") {
			ran = append(ran, v.name)
		}
		why := strings.TrimSpace(strings.Join(v.output, "\n        "))
		switch {
		case v.result == "PASS":
			m.passed++
		case v.result == "SKIP":
			if _, ok := find(m.exclusions, s.pkg, v.name); ok {
				continue // a subtest on the list
			}
			m.skipped++
			line := fmt.Sprintf("skipped: %s: %s", v.name, why)
			if m.strict {
				faults = append(faults, line+" (CI=true: not allowed unless in qemu/gotest/exclude.txt)")
			} else {
				fmt.Fprintf(m.out, "    %s\n", line)
			}
		default:
			m.failed++
			faults = append(faults, fmt.Sprintf("FAIL: %s\n        %s", v.name, why))
		}
	}
	for _, n := range s.names {
		if !slices.Contains(ran, n) {
			faults = append(faults, n+" is a test on this machine and did not run in the guest")
		}
	}
	for _, n := range ran {
		if !slices.Contains(s.names, n) {
			faults = append(faults, n+" ran in the guest and is no test on this machine")
		}
	}
	// The same again as numbers: names that are there twice would hide in sets.
	if len(faults) == 0 && len(ran) != len(s.names) {
		faults = append(faults, fmt.Sprintf("%d tests ran, %d are on this machine", len(ran), len(s.names)))
	}
	if r.Error != "" || (r.Exit != 0 && len(faults) == 0) {
		faults = append(faults, strings.TrimSpace(fmt.Sprintf("the test binary ended with exit status %d %s\n%s\n%s", r.Exit, r.Error, lastLines(string(r.Stdout)), lastLines(string(r.Stderr)))))
	}
	m.excluded += len(s.excluded)
	if len(faults) == 0 {
		fmt.Fprintf(m.out, "ok    %-32s %3d tests %6.1fs\n", s.pkg, len(ran), took.Seconds())
		return
	}
	m.bad++
	fmt.Fprintf(m.out, "FAIL  %-32s %3d tests %6.1fs\n", s.pkg, len(ran), took.Seconds())
	for _, f := range faults {
		fmt.Fprintf(m.out, "    %s\n", f)
	}
}

// close prints the last line.
func (m *summary) close() (ok bool) {
	for _, e := range m.exclusions {
		fmt.Fprintf(m.out, "excluded: %s %s: %s\n", e.pkg, e.test, e.reason)
	}
	fmt.Fprintf(m.out, "%d passed, %d failed, %d skipped\n", m.passed, m.failed, m.skipped)
	return m.bad == 0
}

func lastLines(s string) string {
	l := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(l[max(0, len(l)-30):], "\n        ")
}
