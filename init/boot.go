package main

import (
	"context"
	"time"

	"weir/init/guard"
)

// work is the worker's life: boot, then supervise until someone asks for the
// end. It returns the exit status that tells process 1 what to do.
func work() int {
	b := newBoot()
	ends := b.listenSignals()

	b.step("mounts", 10*time.Second, mounts)
	b.step("output", time.Second, keepOutput)
	b.step("kernel settings", 5*time.Second, kernelSettings)
	line := stepFor(b, "command line", time.Second, commandLine)
	brd := stepFor(b, "board", 5*time.Second, b.findBoard)
	b.step("control", 5*time.Second, b.serveControl)
	shells := b.shells(brd, line, 20*time.Second)
	if b.mode < guard.Shells {
		b.step("modules", 90*time.Second, b.loadModules(brd, line))
		b.step("clock", 5*time.Second, setClock)
		cfg := stepFor(b, "configuration", 10*time.Second, b.configure(brd))
		b.step("host name", time.Second, b.setHostname(cfg))
		b.step("loopback", 5*time.Second, loopbackUp)
		b.step("ports", 30*time.Second, b.bringUpPorts(cfg))
		b.watchPorts(cfg)
		b.step("services", 45*time.Second, b.startServices(cfg, line))
	}
	b.finish()
	shells()
	b.startRun(line)

	end := <-ends
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	b.stop(ctx, end)
	return end.status
}
