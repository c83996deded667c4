package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"weir/init/config"
	"weir/init/control"
	"weir/init/netup"
	"weir/init/report"
	"weir/netstack/status"
)

// Exit statuses, the same for every command.
const (
	exitOK    = 0
	exitFault = 1 // it was tried, and failed or found faults
	exitUsage = 2 // it was asked wrongly, and nothing was done
)

// env is what a command sees of the world.
type env struct {
	in       io.Reader
	out, err io.Writer

	configPath, inForcePath, boardPath string
	reportPath, socketPath, logDir     string

	apply            func(context.Context, *config.Config) (netup.Result, error)
	setHostname      func([]byte) error
	powerOff, reboot func(reason string) error
	restart          func(service, reason string) error
}

func main() {
	os.Exit(run(&env{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		configPath: config.Path, inForcePath: netup.InForce, boardPath: "/etc/weir/board",
		reportPath: report.Path, socketPath: status.DefaultSocket, logDir: "/run/weir/log",
		apply: netup.Apply, setHostname: unix.Sethostname, powerOff: control.PowerOff, reboot: control.Reboot, restart: control.Restart,
	}, os.Args[1:]))
}

// run finds the command and hands it the rest.
func run(e *env, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(e.err, overview())
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		return help(e, args[1:])
	case "-version", "--version":
		args = []string{"version"}
	}
	c, rest := find(args)
	if c == nil {
		fmt.Fprintf(e.err, "weir: there is no command %q; `weir help` lists them\n", strings.Join(args[:min(2, len(args))], " "))
		return exitUsage
	}
	return c.run(e, c, rest)
}

// flags is the flag set of a command, whose messages are its own help.
func (c *command) flags(e *env) *flag.FlagSet {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs
}

// parse reads the flags of a command that takes from low to high arguments,
// high < 0 for any number. If ok is false the command ends with the status.
func (c *command) parse(e *env, fs *flag.FlagSet, args []string, low, high int) (exit int, ok bool) {
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(e.out, c.help())
		return exitOK, false
	case err != nil:
		fmt.Fprintf(e.err, "weir %s: %v\n%s", c.name, err, c.usage())
		return exitUsage, false
	case fs.NArg() < low:
		fmt.Fprintf(e.err, "weir %s: an argument is missing\n%s", c.name, c.usage())
		return exitUsage, false
	case high >= 0 && fs.NArg() > high:
		fmt.Fprintf(e.err, "weir %s: %q is too much\n%s", c.name, fs.Arg(high), c.usage())
		return exitUsage, false
	}
	return exitOK, true
}

// fail reports an error of a command.
func (e *env) fail(c *command, err error) int {
	fmt.Fprintf(e.err, "weir %s: %v\n", c.name, err)
	return exitFault
}
