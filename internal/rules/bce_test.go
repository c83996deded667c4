package rules

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"weir/internal/testenv"
)

// unchecked are the packages whose code runs for every packet: the compiler's
// bounds checks in them are listed, so that none comes unnoticed.
var unchecked = []string{"weir/netstack/header", "weir/netstack/checksum", "weir/netstack/fib", "weir/netstack/forward", "weir/netstack/snapshot", "weir/netstack/stats"}

// TestBoundsChecks compares the bounds checks that the compiler could not remove
// for arm and arm64 with testdata/bce.golden, by file and function: a line
// "header/ipv4.go Payload". Take a line out when its check is gone; think before
// adding one.
func TestBoundsChecks(t *testing.T) {
	testenv.Need(t, "go")
	golden, err := os.ReadFile(filepath.Join("testdata", "bce.golden"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(golden)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			want = append(want, line)
		}
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatalf("go list -m: %v", err)
	}
	found := regexp.MustCompile(`(?m)^(?:\./)?(netstack/[a-z0-9/_]+\.go):(\d+):\d+: Found Is(?:Slice)?InBounds$`)
	for _, arch := range []string{"arm", "arm64"} {
		// The flag applies to the named packages. The go command repeats the remarks
		// of a build that it has in its cache.
		cmd := exec.Command("go", append([]string{"build", "-gcflags=-d=ssa/check_bce"}, unchecked...)...)
		cmd.Dir = strings.TrimSpace(string(root))
		cmd.Env = append(os.Environ(), "GOARCH="+arch, "GOARM=7", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: go build: %v\n%s", arch, err, out)
		}
		if !strings.Contains(string(out), "Found Is") {
			t.Fatalf("%s: the compiler reports no bounds check at all: did its flag change?", arch)
		}
		got := map[string]bool{}
		for _, m := range found.FindAllStringSubmatch(string(out), -1) {
			got[strings.TrimPrefix(m[1], "netstack/")+" "+function(t, filepath.Join(cmd.Dir, m[1]), m[2])] = true
		}
		for k := range got {
			if !slices.Contains(want, k) {
				t.Errorf("%s: a bounds check in %s", arch, k)
			}
		}
		for _, k := range want {
			if !got[k] {
				t.Errorf("%s: no bounds check in %s any more: take it out of testdata/bce.golden", arch, k)
			}
		}
	}
}

// function names the function around a line.
func function(t *testing.T, file, line string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range line {
		n = n*10 + int(c-'0')
	}
	lines := strings.Split(string(b), "\n")
	head := regexp.MustCompile(`^func (?:\([^)]*\) )?(\w+)`)
	for i := min(n, len(lines)) - 1; i >= 0; i-- {
		if m := head.FindStringSubmatch(lines[i]); m != nil {
			return m[1]
		}
	}
	return "?"
}
