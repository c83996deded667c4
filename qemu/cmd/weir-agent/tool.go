package main

import (
	"fmt"
	"sort"
	"strings"
)

// tools are the subcommands; each is called with "on" or "off" and more.
var tools = map[string]func(args []string) error{}

func tool(args []string) error {
	f, ok := tools[args[0]]
	if !ok {
		var names []string
		for n := range tools {
			names = append(names, n)
		}
		sort.Strings(names)
		return fmt.Errorf("no tool %q; there are %s", args[0], strings.Join(names, ", "))
	}
	return f(args[1:])
}
