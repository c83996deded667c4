package main

import (
	"fmt"
	"os"
	"strings"

	"weir/internal/version"
)

const endHelp = `
Asks process 1, which stops the services in order, and returns once that has
begun.`

func runReboot(e *env, c *command, args []string) int   { return end(e, c, args, e.reboot) }
func runPowerOff(e *env, c *command, args []string) int { return end(e, c, args, e.powerOff) }

func end(e *env, c *command, args []string, do func(reason string) error) int {
	fs := c.flags(e)
	if exit, ok := c.parse(e, fs, args, 0, 0); !ok {
		return exit
	}
	if err := do(reason(c)); err != nil {
		return e.fail(c, err)
	}
	return exitOK
}

// reason is what the log says about who asked.
func reason(c *command) string {
	s := "weir " + c.name
	if tty, err := os.Readlink("/proc/self/fd/0"); err == nil && strings.HasPrefix(tty, "/dev/") {
		s += " on " + strings.TrimPrefix(tty, "/dev/")
	}
	return s
}

const restartHelp = `
Asks process 1, which knows the services; "weir status" lists them.`

func runRestart(e *env, c *command, args []string) int {
	fs := c.flags(e)
	if exit, ok := c.parse(e, fs, args, 1, 1); !ok {
		return exit
	}
	if err := e.restart(fs.Arg(0), reason(c)); err != nil {
		return e.fail(c, err)
	}
	return exitOK
}

func runVersion(e *env, c *command, args []string) int {
	fs := c.flags(e)
	if exit, ok := c.parse(e, fs, args, 0, 0); !ok {
		return exit
	}
	fmt.Fprintln(e.out, "weir", version.Version)
	return exitOK
}
