package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"weir/init/control"
	"weir/init/guard"
	"weir/init/kmsg"
)

// end is a request to end: the worker's exit status, which process 1
// understands, and who asked.
type end struct {
	status int
	reason string
}

// listenSignals takes what process 1 passes on.
func (b *boot) listenSignals() <-chan end {
	c := make(chan os.Signal, 4)
	signal.Notify(c, unix.SIGTERM, unix.SIGINT, unix.SIGUSR2, unix.SIGPWR)
	signal.Ignore(unix.SIGHUP, unix.SIGPIPE)
	go func() {
		for s := range c {
			status := guard.ExitReboot
			if s == unix.SIGUSR2 || s == unix.SIGPWR {
				status = guard.ExitPowerOff
			}
			b.ends <- end{status, fmt.Sprintf("the signal %v", s)}
		}
	}()
	return b.ends
}

// serveControl answers the operator's command.
func (b *boot) serveControl(context.Context) error {
	_, err := control.Serve(control.Path, func(req control.Request) error {
		switch req.Verb {
		case control.VerbReboot:
			return b.ask(end{guard.ExitReboot, req.Reason})
		case control.VerbPowerOff:
			return b.ask(end{guard.ExitPowerOff, req.Reason})
		case control.VerbRestart:
			kmsg.Infof("weir: restart of %s: %s", req.Service, or(req.Reason, "no reason given"))
			return b.super.Restart(req.Service)
		}
		return b.injectFault(req.Verb)
	})
	return err
}

func (b *boot) ask(e end) error {
	select {
	case b.ends <- e:
	default: // an end is on its way
	}
	return nil
}

// stop stops the services, the last started first.
func (b *boot) stop(ctx context.Context, e end) {
	what := "reboot"
	if e.status == guard.ExitPowerOff {
		what = "power-off"
	}
	kmsg.Logf(kmsg.Warning, "weir: stopping the services for a %s: %s", what, or(e.reason, "no reason given"))
	b.super.Stop(ctx)
}
