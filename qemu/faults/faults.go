package faults

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"weir/qemu/gateway"
)

// fault is one thing that goes wrong and what has to follow.
type fault struct {
	name string
	do   func(context.Context, *env) error
	// lines must come on the console, in this order.
	lines []string
	// dies: init's worker does not survive it, and starts again.
	dies bool
	// forwards: afterwards the machine forwards by the lab's configuration. With
	// the board's own it has other addresses.
	forwards bool
	// ends: the machine reboots.
	ends bool
}

const (
	goDeath = `init's worker died \(exit status 2, a panic or a fatal error of the Go runtime\)`
	upAgain = `weir: up in `
)

// faults in their order. Each death of the worker counts: after the third it
// starts with the board's default configuration, after the fifth with shells
// alone, and the sixth reboots.
var faults = []fault{
	{name: "ForwarderCrash", do: crashForwarder, forwards: true,
		lines: []string{`forwarder: SIGSEGV`, `weir: forwarder ended: exit 2; it starts again in 250ms`, `forwarder: ready`}},
	{name: "ServicePanic", do: ask("service"), forwards: true,
		lines: []string{`faulty: panic: in a goroutine of a service`, `weir: faulty ended: exit 2; it starts again in 250ms`,
			`weir: faulty ended: exit 2; it starts again in 500ms`}},
	{name: "StepPanic", do: ask("step"), forwards: true, lines: []string{`weir: fault: panic: injected`}},
	{name: "StepHangs", do: ask("hang"), forwards: true, lines: []string{`weir: fault: not done after 1s, going on without it`}},
	{name: "SignalsToProcess1", do: signals, forwards: true, lines: []string{`weir: process 1 ignores the signal`}},
	{name: "MemoryExhausted", do: useUp("memory"), forwards: true, lines: []string{`Out of memory: Killed process \d+ \(init\)`}},
	{name: "ProcessesExhausted", do: useUp("forks"), forwards: true},
	{name: "NilDereference", do: ask("nil"), dies: true, forwards: true,
		lines: []string{goDeath, `the last words of the earlier worker`, `invalid memory address or nil pointer dereference`, upAgain}},
	{name: "KillAll", do: useUp("killall"), dies: true, forwards: true,
		lines: []string{`init's worker died \(killed by the signal killed\)`, upAgain}},
	{name: "FatalError", do: ask("map"), dies: true,
		lines: []string{goDeath, `fatal error: concurrent map writes`, `configuration: init's worker died 3 times with it`,
			`the board's default is in force`, upAgain}},
	{name: "Panic", do: ask("panic"), dies: true, lines: []string{goDeath, `panic: injected`, upAgain}},
	{name: "PanicAgain", do: ask("panic"), dies: true, lines: []string{goDeath, upAgain}},
	{name: "Hopeless", do: ask("panic"), ends: true,
		lines: []string{`weir: reboot: init's worker died 6 times within 10m0s, the last time: exit status 2`, `reboot: Restarting system`}},
}

// ask makes the running init do a fault. The answer may be lost with what
// answers.
func ask(verb string) func(context.Context, *env) error {
	return func(ctx context.Context, e *env) error {
		_, _ = e.Agent.Run(ctx, "/init", "fault", verb)
		return nil
	}
}

// useUp runs a program that is a fault by itself, and may be killed for it.
func useUp(what string) func(context.Context, *env) error { return ask(what) }

func crashForwarder(ctx context.Context, e *env) error {
	s, err := e.Status(ctx)
	if err != nil {
		return err
	}
	if s.Forwarder == nil {
		return fmt.Errorf("the forwarder does not answer: %v", s.Errors)
	}
	// To the Go runtime a SIGSEGV is what a nil dereference in any goroutine is.
	_, err = e.Agent.Run(ctx, "/bbin/kill", "-11", strconv.Itoa(s.Forwarder.PID))
	return err
}

// signals sends process 1 what a Go program dies of by default.
func signals(ctx context.Context, e *env) error {
	for _, s := range []string{"-1", "-3", "-4", "-6", "-8", "-9", "-11", "-13", "-19", "-31"} {
		if _, err := e.Agent.Run(ctx, "/bbin/kill", s, "1"); err != nil {
			return err
		}
	}
	return nil
}

// compiled are the expressions of a fault's lines.
func (f fault) compiled() []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, l := range f.lines {
		all = append(all, regexp.MustCompile(l))
	}
	return all
}

// state is what must be so while nothing dies.
func state(s *gateway.Status, withForwarder bool) string {
	if s.Boot == nil || !s.Boot.Done {
		return "the boot is not done"
	}
	if !withForwarder {
		return ""
	}
	if s.Forwarder == nil {
		return fmt.Sprintf("the forwarder does not answer: %v", s.Errors)
	}
	for _, v := range s.Boot.Services {
		if v.Name == "forwarder" && v.Ready {
			return ""
		}
	}
	return "the forwarder is not ready"
}
