package guesttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync/atomic"
	"time"

	"weir/images/progress"
	"weir/qemu/gateway"
	"weir/qemu/lab"
)

// testLimit is what one test may take.
const testLimit = 90 * time.Second

// Options of Run.
type Options struct {
	Image   *gateway.Image
	NoTap   bool
	Only    *regexp.Regexp // names of the tests to run; nil is all
	Console *os.File
	Report  *progress.Reporter
	Out     io.Writer
}

// run is one boot with the tests that belong to it.
type run struct {
	name          string
	smp, memoryMB int // 0: the board's
	tests         []test
}

type test struct {
	name string
	f    func(context.Context, *env) error
}

// runs lists what is tested on a board.
func runs() []run {
	return []run{
		{name: "board", tests: tests},
		// The smallest machine in the field has one CPU and half a gigabyte.
		{name: "one CPU, 512 MB", smp: 1, memoryMB: 512, tests: []test{
			{"Boot", boot}, {"Forward", forward}, {"ForwardBack", forwardBack}, {"RouterItself", routerItself},
			{"ForwarderKilled", forwarderKilled},
		}},
	}
}

// env is what a test has.
type env struct {
	*gateway.Gateway
	client, server *lab.Host
	queues         int
	loads          *atomic.Uint64 // of this boot
	log            func(format string, args ...any)
}

// Run runs all tests and prints how they went.
func Run(ctx context.Context, o Options) (ok bool, err error) {
	passed, failed := 0, 0
	for _, r := range runs() {
		p, f, err := o.run(ctx, r)
		passed, failed = passed+p, failed+f
		if err != nil {
			return false, fmt.Errorf("%s, %s: %w", o.Image.Board.Name, r.name, err)
		}
	}
	fmt.Fprintf(o.Out, "%d passed, %d failed, 0 skipped\n", passed, failed)
	return failed == 0 && passed > 0, nil
}

func (o Options) run(ctx context.Context, r run) (passed, failed int, err error) {
	var todo []test
	for _, t := range r.tests {
		if o.Only == nil || o.Only.MatchString(t.name) {
			todo = append(todo, t)
		}
	}
	if len(todo) == 0 {
		return 0, 0, nil
	}
	g := gateway.Options{Image: o.Image, SMP: r.smp, MemoryMB: r.memoryMB, Console: o.Console}
	l, err := lab.New(lab.Config{Queues: g.Hardware().SMP, NoTap: o.NoTap})
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if l.Relayed {
		o.Report.Note("relays with one queue, not multi-queue taps: %s", l.Why)
	}
	g.Lab = l
	s := o.Report.Begin(0, "boot %s (%s)", o.Image.Board.Name, r.name)
	gw, err := gateway.Start(ctx, g)
	if err == nil {
		if err = gw.WaitUp(ctx); err == nil {
			err = gw.WaitReachable(ctx)
		}
		if err != nil {
			err = errors.Join(err, gw.Close())
		}
	}
	s.Finish(err)
	if err != nil {
		return 0, 0, err
	}
	loads := new(atomic.Uint64)
	for _, t := range todo {
		if o.one(ctx, r, t, gw, l, loads) {
			passed++
		} else {
			failed++
		}
		if err := context.Cause(ctx); err != nil {
			return passed, failed, errors.Join(err, gw.Close())
		}
	}
	return passed, failed, gw.PowerOff(ctx)
}

func (o Options) one(ctx context.Context, r run, t test, g *gateway.Gateway, l *lab.Lab, loads *atomic.Uint64) bool {
	name := fmt.Sprintf("%s/%s", o.Image.Board.Name, t.name)
	if r.smp != 0 {
		name += "/smp1"
	}
	ctx, cancel := context.WithTimeoutCause(ctx, testLimit, fmt.Errorf("not done within %v", testLimit))
	defer cancel()
	var lines []string
	e := &env{Gateway: g, client: l.Client, server: l.Server, queues: l.Queues(), loads: loads,
		log: func(f string, a ...any) { lines = append(lines, fmt.Sprintf(f, a...)) }}
	start := time.Now()
	s := o.Report.Begin(0, "%s", name)
	err := t.f(ctx, e)
	s.Finish(err)
	result := "PASS"
	if err != nil {
		result = "FAIL"
		lines = append(lines, err.Error())
		if g.Console != nil {
			lines = append(lines, "console:"+g.Console.Tail())
		}
	}
	fmt.Fprintf(o.Out, "--- %s: %s (%.2fs)\n", result, name, time.Since(start).Seconds())
	for _, l := range lines {
		fmt.Fprintf(o.Out, "    %s\n", l)
	}
	return err == nil
}
