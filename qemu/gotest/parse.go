package gotest

import "strings"

// verdict of one test, by its full name (Test/sub).
type verdict struct {
	name   string
	result string // PASS, FAIL or SKIP
	output []string
}

// mark is what -test.v=test2json puts before the lines that are the testing
// package's own (cmd/internal/test2json).
const mark = "\x16"

// parse reads what a test binary prints with -test.v=test2json. A test that
// began and has no verdict is one that ended the process: it failed.
func parse(out string) []verdict {
	var all []verdict
	begun := map[string]int{} // index into all
	var current string
	for l := range strings.Lines(out) {
		l = strings.TrimRight(l, "\r\n")
		at := strings.Index(l, mark)
		if at < 0 {
			if i, ok := begun[current]; ok {
				all[i].output = append(all[i].output, l)
			}
			continue
		}
		f := strings.Fields(l[at+len(mark):])
		switch {
		case len(f) == 3 && f[0] == "===" && f[1] == "RUN":
			begun[f[2]] = len(all)
			all = append(all, verdict{name: f[2]})
			current = f[2]
		case len(f) == 3 && f[0] == "===" && (f[1] == "CONT" || f[1] == "NAME"):
			current = f[2]
		case len(f) >= 3 && f[0] == "---":
			result := strings.TrimSuffix(f[1], ":")
			if result == "BENCH" {
				continue
			}
			i, ok := begun[f[2]]
			if !ok { // examples have no RUN line in old toolchains
				i = len(all)
				begun[f[2]] = i
				all = append(all, verdict{name: f[2]})
			}
			all[i].result = result
			current = f[2]
		}
	}
	for i := range all {
		if all[i].result == "" {
			all[i].result = "FAIL"
			all[i].output = append(all[i].output, "the process ended while this test ran")
		}
	}
	return all
}

// parseList reads what -test.list prints: names, and lines like "ok …".
func parseList(out string) []string {
	var names []string
	for l := range strings.Lines(out) {
		l = strings.TrimSpace(l)
		for _, p := range []string{"Test", "Fuzz", "Example"} {
			if strings.HasPrefix(l, p) && !strings.ContainsAny(l, " \t") {
				names = append(names, l)
			}
		}
	}
	return names
}
