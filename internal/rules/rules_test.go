package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weir/internal/testenv"
)

type pkg struct {
	ImportPath, Dir, Name string
	Imports               []string
	GoFiles               []string
}

// list asks the go command for every package of the module.
func list(t *testing.T) []pkg {
	t.Helper()
	testenv.Need(t, "go")
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Name,Imports,GoFiles", "weir/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// may lists, by package (or by folder, with a trailing slash), what of the
// module it may import. The longest match counts; "std" means nothing beyond
// the standard library, not even other modules. A main package in a cmd folder
// is the glue and may import anything.
var may = map[string][]string{
	"netstack/frame":    {"std"},
	"netstack/header":   {"std"},
	"netstack/checksum": {"std"},
	"netstack/status":   {"std"},
	"netstack/fib":      {"netstack/frame", "netstack/header", "netstack/checksum"},
	"netstack/neigh":    {"netstack/frame", "netstack/header", "netstack/checksum"},
	"netstack/flow":     {"netstack/frame", "netstack/header", "netstack/checksum"},
	"netstack/snapshot": {"netstack/frame", "netstack/header", "netstack/checksum", "netstack/fib", "netstack/neigh", "netstack/flow"},
	"netstack/snapshot/": {"netstack/frame", "netstack/header", "netstack/checksum", "netstack/fib", "netstack/neigh", "netstack/flow",
		"netstack/snapshot"},
	"netstack/forward": {"netstack/frame", "netstack/header", "netstack/checksum", "netstack/fib", "netstack/neigh", "netstack/flow",
		"netstack/snapshot"},
	"netstack/stats":  {"netstack/frame"},
	"netstack/worker": {"netstack/frame", "netstack/header", "netstack/checksum", "netstack/snapshot", "netstack/forward", "netstack/stats"},
	"netstack/mirror": {"netstack/frame", "netstack/fib", "netstack/neigh", "netstack/flow", "netstack/snapshot", "netstack/mirror/"},
	"netstack/mirror/": {"netstack/frame", "netstack/fib", "netstack/neigh", "netstack/flow", "netstack/snapshot",
		"netstack/mirror/"},
	"drivers/":  {"drivers/", "netstack/frame"},
	"init/":     {"init/", "drivers/port", "board", "internal/"},
	"init":      {"init/", "drivers/port", "board", "internal/"},
	"board":     {},
	"images/":   {"images/", "board", "internal/", "init/config"},
	"qemu":      {"qemu/", "board", "internal/"},
	"qemu/":     {"qemu/", "board", "internal/", "images/", "init/report", "netstack/status", "netstack/header", "netstack/checksum", "netstack/frame"},
	"internal/": {"internal/"},
}

// rule finds the rule for a package.
func rule(path string) ([]string, bool) {
	if r, ok := may[path]; ok {
		return r, true
	}
	best, found := "", false
	for k := range may {
		if strings.HasSuffix(k, "/") && strings.HasPrefix(path, k) && len(k) > len(best) {
			best, found = k, true
		}
	}
	return may[best], found
}

func TestImportsGoOneWay(t *testing.T) {
	for _, p := range list(t) {
		path := strings.TrimPrefix(p.ImportPath, "weir/")
		if p.Name == "main" && strings.Contains(path, "/cmd/") {
			continue
		}
		allowed, ok := rule(path)
		if !ok {
			t.Errorf("%s: no rule says what it may import: add one to %s", path, "internal/rules")
			continue
		}
		for _, imp := range p.Imports {
			if bad := refuse(imp, allowed); bad != "" {
				t.Errorf("%s imports %s: %s (DESIGN.md: imports go one way)", path, imp, bad)
			}
		}
	}
}

// refuse says why an import is not allowed, or nothing.
func refuse(imp string, allowed []string) string {
	own, isOwn := strings.CutPrefix(imp, "weir/")
	if !isOwn {
		if len(allowed) == 1 && allowed[0] == "std" && strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") {
			return "only the standard library is allowed"
		}
		return ""
	}
	for _, a := range allowed {
		if own == a || strings.HasSuffix(a, "/") && strings.HasPrefix(own, a) {
			return ""
		}
	}
	return "allowed are " + strings.Join(allowed, ", ")
}

// The checker itself: what it has to refuse, it refuses.
func TestRefuse(t *testing.T) {
	for _, c := range []struct {
		path, imp string
		ok        bool
	}{
		{"netstack/frame", "fmt", true},
		{"netstack/frame", "golang.org/x/sys/unix", false},
		{"netstack/forward", "weir/netstack/snapshot", true},
		{"netstack/forward", "weir/netstack/worker", false},
		{"drivers/xsk", "weir/netstack/frame", true},
		{"drivers/xsk", "weir/netstack/forward", false},
		{"init/config", "weir/netstack/frame", false},
	} {
		allowed, found := rule(c.path)
		if !found {
			t.Fatalf("no rule for %s", c.path)
		}
		if got := refuse(c.imp, allowed); (got == "") != c.ok {
			t.Errorf("%s importing %s: %q", c.path, c.imp, got)
		}
	}
}

// Every package says in doc.go what its one job is.
func TestEveryPackageHasDoc(t *testing.T) {
	for _, p := range list(t) {
		b, err := os.ReadFile(filepath.Join(p.Dir, "doc.go"))
		if err != nil {
			t.Errorf("%s has no doc.go", p.ImportPath)
			continue
		}
		want := "// Package " + p.Name + " "
		if p.Name == "main" {
			want = "// "
		}
		if !strings.Contains(string(b), want) {
			t.Errorf("%s: doc.go does not begin with %q", p.ImportPath, want)
		}
	}
}
