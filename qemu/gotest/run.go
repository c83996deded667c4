package gotest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"weir/images/progress"
	"weir/qemu/agent"
	"weir/qemu/gateway"
	"weir/qemu/machine"
)

const (
	// packageLimit is what one package may take; the slowest needs a tenth.
	packageLimit = 6 * time.Minute
	// atATime packages run together, as many as the boards have CPUs: many wait
	// for the kernel's timers. `go test ./...` does so too.
	atATime = 2
	// memory in MB: the image, and the test binaries twice while the kernel unpacks.
	memory = 1024
)

// loadFirst are modules that a user's tool loads by name, before it asks the
// kernel (iptables does); everything else the kernel asks for itself.
var loadFirst = []string{"iptable_filter", "ip6table_filter"}

// Options of Run.
type Options struct {
	Image    *gateway.Image
	Patterns []string // packages; default ./...
	Console  *os.File // gets a copy of the guest's console
	Report   *progress.Reporter
	Out      io.Writer // results, one line a package
}

// Run runs the tests and reports whether all is well; the error is what kept
// them from running.
func Run(ctx context.Context, o Options) (ok bool, err error) {
	root, err := gateway.Root()
	if err != nil {
		return false, err
	}
	ex, err := parseExclusions(excludeText)
	if err != nil {
		return false, err
	}
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"./..."}
	}
	var suites []*suite
	if err := stage(o.Report, "ask the packages for their tests", func() (err error) {
		suites, err = list(ctx, root, o.Patterns, ex)
		return err
	}); err != nil {
		return false, err
	}
	tmp, err := os.MkdirTemp("", "weir-gotest-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	if err := stage(o.Report, fmt.Sprintf("cross-build the tests of %d packages for %s", len(suites), o.Image.Board.Name), func() error {
		return compile(ctx, root, o.Image.Board, tmp, suites)
	}); err != nil {
		return false, err
	}
	var files []machine.File
	for _, s := range suites {
		f, err := s.files()
		if err != nil {
			return false, err
		}
		files = append(files, f...)
	}
	var g *gateway.Gateway
	if err := stage(o.Report, "boot "+o.Image.Board.Name, func() error {
		g, err = gateway.Start(ctx, gateway.Options{Image: o.Image, Files: files, MemoryMB: memory,
			Append: []string{"weir.only"}, Console: o.Console})
		if err != nil {
			return err
		}
		if err := g.WaitUp(ctx); err != nil {
			return errors.Join(err, g.Close())
		}
		if _, err := g.Agent.Run(ctx, append([]string{"/sbin/modprobe", "--"}, loadFirst...)...); err != nil {
			return errors.Join(err, g.Close())
		}
		return nil
	}); err != nil {
		return false, err
	}
	sum := &summary{out: o.Out, exclusions: ex, strict: os.Getenv("CI") == "true"}
	if err := stage(o.Report, fmt.Sprintf("run %d packages in the guest, %d at a time", len(suites), atATime), func() error {
		group, gctx := errgroup.WithContext(ctx)
		group.SetLimit(atATime)
		for _, s := range suites {
			group.Go(func() error { return one(gctx, g, s, sum) })
		}
		return group.Wait()
	}); err != nil {
		return false, errors.Join(err, g.Close())
	}
	if err := g.PowerOff(ctx); err != nil {
		return false, err
	}
	return sum.close(), nil
}

// one runs a package in the guest.
func one(ctx context.Context, g *gateway.Gateway, s *suite, sum *summary) error {
	start := time.Now()
	argv := []string{"./run.test", "-test.v=test2json", "-test.timeout=" + packageLimit.String()}
	if len(s.excluded) > 0 {
		argv = append(argv, "-test.skip=^("+strings.Join(s.excluded, "|")+")$")
	}
	r, err := g.Agent.Do(ctx, agent.Request{Argv: argv, Dir: folder(s.pkg),
		Env:     []string{"CI=" + os.Getenv("CI"), "HOME=/tmp", "TMPDIR=/tmp"},
		Timeout: packageLimit + 10*time.Second,
	})
	if err != nil && r.Error == "" { // the way there broke
		return fmt.Errorf("%s: %w; the guest's console ended with:%s", s.pkg, err, g.Console.Tail())
	}
	sum.add(s, r, time.Since(start))
	return nil
}

func stage(p *progress.Reporter, what string, f func() error) error {
	s := p.Begin(0, "%s", what)
	err := f()
	s.Finish(err)
	return err
}
