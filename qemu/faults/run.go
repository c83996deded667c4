package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"weir/images/progress"
	"weir/qemu/gateway"
	"weir/qemu/lab"
	"weir/qemu/machine"
)

// limit is what one fault may take, under emulation on a busy machine.
const limit = 3 * time.Minute

// Options of Run.
type Options struct {
	Image   *gateway.Image
	NoTap   bool
	Console *os.File // gets a copy of the guest's console
	Report  *progress.Reporter
	Out     io.Writer // results, as `go test -v` prints them
}

// env is what a fault has.
type env struct {
	*gateway.Gateway
	client, server *lab.Host
	from           int // the first console line that is not yet looked at
	log            func(format string, args ...any)
}

// Run boots the image once and does all faults. It reports whether the machine
// took them as it has to; the error is what kept them from being done.
func Run(ctx context.Context, o Options) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "weir-faults-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	init := filepath.Join(dir, "init")
	if err := o.stage("build the init that does faults", func() error {
		return gateway.Compile(ctx, o.Image.Board, "./init", init, "-tags=weirtest")
	}); err != nil {
		return false, err
	}
	g := gateway.Options{Image: o.Image, Console: o.Console, Files: []machine.File{{Path: "/init", Source: init, Mode: 0o755}}}
	l, err := lab.New(lab.Config{Queues: g.Hardware().SMP, NoTap: o.NoTap})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	g.Lab = l
	var gw *gateway.Gateway
	if err := o.stage("boot "+o.Image.Board.Name, func() error {
		if gw, err = gateway.Start(ctx, g); err != nil {
			return err
		}
		return gw.WaitUp(ctx)
	}); err != nil {
		if gw != nil {
			err = errors.Join(err, gw.Close())
		}
		return false, err
	}
	e := &env{Gateway: gw, client: l.Client, server: l.Server, from: len(gw.Console.Lines(0))}
	passed := 0
	for _, f := range faults {
		if !o.one(ctx, f, e) {
			break // what follows counts on it
		}
		passed++
	}
	fmt.Fprintf(o.Out, "%d passed, %d failed or not reached, 0 skipped\n", passed, len(faults)-passed)
	return passed == len(faults), gw.Close()
}

func (o Options) stage(name string, f func() error) error {
	s := o.Report.Begin(0, "%s", name)
	err := f()
	s.Finish(err)
	return err
}

func (o Options) one(ctx context.Context, f fault, e *env) bool {
	name := o.Image.Board.Name + "/" + f.name
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not over within %v", limit))
	defer cancel()
	var lines []string
	e.log = func(f string, a ...any) { lines = append(lines, fmt.Sprintf(f, a...)) }
	start := time.Now()
	err := o.stage(name, func() error { return e.check(ctx, f) })
	result := "PASS"
	if err != nil {
		result = "FAIL"
		lines = append(lines, err.Error(), "console:"+e.Console.Tail())
	}
	fmt.Fprintf(o.Out, "--- %s: %s (%.2fs)\n", result, name, time.Since(start).Seconds())
	for _, l := range lines {
		fmt.Fprintf(o.Out, "    %s\n", l)
	}
	return err == nil
}

// check does a fault and looks at what follows.
func (e *env) check(ctx context.Context, f fault) error {
	first := e.from
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	// What is killed gives no answer: where something dies nothing waits for one.
	go func() { done <- f.do(ctx, e) }()
	for _, re := range f.compiled() {
		m, next, err := e.WaitLine(ctx, e.from, re)
		if err != nil {
			cancel() // whatever the fault still waits for
			return errors.Join(err, <-done)
		}
		e.log("%s", m[0])
		e.from = next
	}
	if f.ends {
		if err := e.Wait(ctx); err != nil {
			return err
		}
		return e.sane(first, f)
	}
	if !f.dies {
		if err := <-done; err != nil {
			return err
		}
	}
	if err := e.alive(ctx, f.forwards); err != nil {
		return err
	}
	return e.sane(first, f)
}

// alive waits until the machine answers, and if it is to, forwards.
func (e *env) alive(ctx context.Context, forwards bool) error {
	for {
		// The agent itself may have been killed with a question open.
		short, cancel := context.WithTimeoutCause(ctx, 10*time.Second, errors.New("no answer within 10 s"))
		_, err := e.WaitStatus(short, func(s *gateway.Status) string { return state(s, forwards) })
		cancel()
		if err == nil {
			break
		}
		if cause := context.Cause(ctx); cause != nil {
			return fmt.Errorf("%w: %w", cause, err)
		}
	}
	if !forwards {
		return nil
	}
	for _, a := range e.server.Addr {
		// Neighbours and routers find each other again after a restart: a few tries.
		if _, err := e.client.Run(ctx, "ping", "-n", "-c", "2", "-w", "20", a.Addr().String()); err != nil {
			return fmt.Errorf("the gateway does not forward: %w", err)
		}
	}
	return nil
}

// sane looks for what must never be on the console, and what must not be
// without a death.
func (e *env) sane(from int, f fault) error {
	for _, l := range e.Console.Lines(from) {
		for _, bad := range []string{"Attempted to kill init", "Kernel panic", "no killable processes"} {
			if strings.Contains(l, bad) {
				return fmt.Errorf("the console has %q", l)
			}
		}
		if !f.dies && !f.ends && strings.Contains(l, "init's worker died") {
			return fmt.Errorf("init's worker was not to die of this: %q", l)
		}
	}
	return nil
}
