package gotest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"weir/board"
	"weir/qemu/gateway"
	"weir/qemu/machine"
)

// suite is one package's tests.
type suite struct {
	pkg, dir string   // import path; folder in the source tree
	names    []string // of its top-level tests on this machine, without the excluded
	excluded []string
	binary   string // test binary for the guest
}

// list finds the packages with tests and asks each for their names. Only what
// is asked for by patterns counts.
func list(ctx context.Context, root string, patterns []string, ex []exclusion) ([]*suite, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles"}, patterns...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	byPkg := map[string]*suite{}
	var all []*suite
	var ask []string
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		if _, out := find(ex, p.ImportPath, "*"); out {
			continue
		}
		s := &suite{pkg: p.ImportPath, dir: p.Dir}
		all, byPkg[s.pkg] = append(all, s), s
		ask = append(ask, s.pkg)
	}
	if len(ask) == 0 {
		return nil, errors.New("no package has tests that run in a guest")
	}
	if err := names(ctx, root, ask, byPkg, ex); err != nil {
		return nil, err
	}
	return all, stale(byPkg, ex)
}

// stale finds exclusions of tests that are no longer there.
func stale(byPkg map[string]*suite, ex []exclusion) error {
	for _, e := range ex {
		s := byPkg[e.pkg]
		if s == nil || e.test == "*" {
			continue
		}
		top, _, _ := strings.Cut(e.test, "/")
		if !slices.Contains(s.names, top) && !slices.Contains(s.excluded, top) {
			return fmt.Errorf("exclude.txt: %s has no test %s: take the line out", e.pkg, e.test)
		}
	}
	return nil
}

// names asks this machine's test binaries; -json says which package a line is of.
func names(ctx context.Context, root string, ask []string, byPkg map[string]*suite, ex []exclusion) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json", "-vet=off", "-list", "."}, ask...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go test -list: %w\n%s", err, out)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var e struct{ Action, Package, Output string }
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("go test -list: %w", err)
		}
		s := byPkg[e.Package]
		if e.Action != "output" || s == nil {
			continue
		}
		for _, n := range parseList(e.Output) {
			if _, out := find(ex, s.pkg, n); out {
				s.excluded = append(s.excluded, n)
			} else {
				s.names = append(s.names, n)
			}
		}
	}
}

// compile cross-builds the test binaries into out. `go test -c` names them by
// the last element of the package, so packages that share one are built in
// turns.
func compile(ctx context.Context, root string, b *board.Board, out string, all []*suite) error {
	for left := all; len(left) > 0; {
		var now, later []*suite
		taken := map[string]bool{}
		for _, s := range left {
			if base := path.Base(s.pkg); taken[base] {
				later = append(later, s)
			} else {
				taken[base] = true
				now = append(now, s)
			}
		}
		left = later
		tmp, err := os.MkdirTemp(out, "turn-")
		if err != nil {
			return err
		}
		args := []string{"test", "-c", "-vet=off", "-trimpath", "-ldflags=-s -w", "-o", tmp + "/"}
		for _, s := range now {
			args = append(args, s.pkg)
			s.binary = filepath.Join(tmp, path.Base(s.pkg)+".test")
		}
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir, cmd.Env = root, gateway.Environ(b)
		if msg, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go test -c for %s: %w\n%s", b.Name, err, msg)
		}
	}
	return nil
}

// folder of a package in the guest.
func folder(pkg string) string { return "/gotest/" + pkg }

// files are what the guest gets of a package: the binary and the testdata.
func (s *suite) files() ([]machine.File, error) {
	fl := []machine.File{{Path: folder(s.pkg) + "/run.test", Source: s.binary, Mode: 0o755}}
	data := filepath.Join(s.dir, "testdata")
	err := filepath.WalkDir(data, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(s.dir, p)
		fl = append(fl, machine.File{Path: folder(s.pkg) + "/" + filepath.ToSlash(rel), Source: p})
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return fl, err
}
