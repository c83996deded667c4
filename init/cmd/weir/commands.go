package main

import (
	"fmt"
	"strings"
)

// command is one command, with its help.
type command struct {
	name  string // one or two words
	args  string // after the name, in the usage line
	short string // one line of the overview
	long  string // what `weir help NAME` says besides
	run   func(e *env, c *command, args []string) int
}

// commands in the order in which a newcomer needs them.
func commands() []*command {
	return []*command{
		{"status", "[--json]", "show ports, tiers, counters, boot and services", statusHelp, runStatus},
		{"config check", "FILE...", "find every fault of a configuration, anywhere", checkHelp, runCheck},
		{"config show", "[FILE]", "print the configuration in force, in canonical form", showHelp, runShow},
		{"config apply", "[FILE]", "make the device as a configuration says", applyHelp, runApply},
		{"log", "[-n LINES] [NAME]", "print what a service said, or list the logs", logHelp, runLog},
		{"restart", "NAME", "stop a service and start it again", restartHelp, runRestart},
		{"reboot", "", "stop everything in order and start the machine anew", endHelp, runReboot},
		{"poweroff", "", "stop everything in order and switch the machine off", endHelp, runPowerOff},
		{"version", "", "print the version", "", runVersion},
	}
}

// find takes the command's words off args; the longer name wins.
func find(args []string) (*command, []string) {
	for _, words := range []int{2, 1} {
		if len(args) < words {
			continue
		}
		name := strings.Join(args[:words], " ")
		for _, c := range commands() {
			if c.name == name {
				return c, args[words:]
			}
		}
	}
	return nil, nil
}

func overview() string {
	var b strings.Builder
	b.WriteString("Weir's command for the operator, on the device and on a workstation.\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  weir %-32s %s\n", strings.TrimSpace(c.name+" "+c.args), c.short)
	}
	b.WriteString("\n`weir help COMMAND` says more. Exit status: 0 done; 1 failed, or faults found; 2 asked wrongly.\n")
	return b.String()
}

func (c *command) usage() string {
	return "usage: weir " + strings.TrimSpace(c.name+" "+c.args) + "\n"
}

func (c *command) help() string {
	s := c.usage() + "\n" + strings.ToUpper(c.short[:1]) + c.short[1:] + ".\n"
	if c.long != "" {
		s += "\n" + strings.TrimSpace(c.long) + "\n"
	}
	return s
}

// help prints the overview, or what a command's words name: one, or several
// that begin so.
func help(e *env, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(e.out, overview())
		return exitOK
	}
	name := strings.Join(args, " ")
	var hits []string
	for _, c := range commands() {
		if c.name == name || strings.HasPrefix(c.name, name+" ") {
			hits = append(hits, c.help())
		}
	}
	if len(hits) == 0 {
		fmt.Fprintf(e.err, "weir: there is no command %q; `weir help` lists them\n", name)
		return exitUsage
	}
	fmt.Fprint(e.out, strings.Join(hits, "\n"))
	return exitOK
}
