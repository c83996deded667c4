package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"weir/init/cmdline"
	"weir/init/guard"
	"weir/init/kmsg"
	"weir/init/supervise"
)

// Words on the kernel's command line, for test runs in a guest.
const (
	runKey  = "weir.run"  // a program to run once the boot is done, on the console
	onlyKey = "weir.only" // no services and no shells beside it
	offKey  = "weir.off"  // power off when it has ended
)

// startRun runs the program of the command line, with the console as its
// terminal, and prints how it ended on a line of its own:
// "weir: run PATH: exit N". Where the worker was restarted it runs again, unless
// weir.off says that it is a suite, which must not be counted twice.
func (b *boot) startRun(line cmdline.Line) {
	path, ok := line.Value(runKey)
	if !ok {
		return
	}
	go func() {
		how := "exit -1 (init was restarted)"
		if b.deaths == 0 || !line.Has(offKey) {
			how = b.run(path)
		}
		tell(fmt.Sprintf("weir: run %s: %s", path, how))
		if line.Has(offKey) {
			b.ends <- end{guard.ExitPowerOff, "the run of " + path + " has ended"}
		}
	}()
}

func (b *boot) run(path string) string {
	u, err := b.super.Start(supervise.Service{Name: "run", Argv: []string{path}, Once: true, TTY: "/dev/console", Quiet: true})
	if err != nil {
		return fmt.Sprintf("exit -1 (%v)", err)
	}
	<-u.Done()
	e := u.Exit()
	if e.Err != nil || e.Signal != 0 {
		return fmt.Sprintf("exit -1 (%v)", e)
	}
	return e.String()
}

// tell writes a line to the console after all that the run has written there:
// through the terminal, since what the kernel prints overtakes it.
func tell(text string) {
	f, err := os.OpenFile("/dev/console", os.O_WRONLY|unix.O_NOCTTY, 0)
	if err != nil {
		kmsg.Errorf("%s", text)
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "\r\n%s\r\n", text)
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCSBRK, 1) // tcdrain(3)
}
