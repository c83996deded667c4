package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// tools are the subcommands, by name.
var tools = map[string]func(args []string) error{
	"sysctl": sysctl, "kill": kill, "mtu": mtu, "neigh-flush": neighFlush,
	"nft": onOff(nftOn, nftOff), "rule": onOff(ruleOn, ruleOff), "tc": onOff(tcOn, tcOff),
	"shape": onOff(shapeOn, shapeOff), "xfrm": onOff(xfrmOn, xfrmOff),
}

func tool(args []string) error {
	f, ok := tools[args[0]]
	if !ok {
		var names []string
		for n := range tools {
			names = append(names, n)
		}
		slices.Sort(names)
		return fmt.Errorf("no tool %q; there are %s", args[0], strings.Join(names, ", "))
	}
	if err := f(args[1:]); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}

// onOff is a tool that is told "on" or "off".
func onOff(on, off func() error) func([]string) error {
	return func(args []string) error {
		switch strings.Join(args, " ") {
		case "on":
			return on()
		case "off":
			return off()
		}
		return fmt.Errorf("%q: want on or off", args)
	}
}

// sysctl NAME VALUE, with slashes in the name.
func sysctl(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%q: want a name and a value", args)
	}
	return os.WriteFile("/proc/sys/"+args[0], []byte(args[1]), 0)
}

// kill PID, with the signal that cannot be caught.
func kill(args []string) error {
	pid, err := strconv.Atoi(strings.Join(args, " "))
	if err != nil {
		return err
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}
