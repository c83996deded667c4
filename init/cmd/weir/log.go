package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const logHelp = `
Without NAME: lists the services that said something, with the size of their
logs. With NAME: prints the last LINES (default 200, 0 for all that is kept).
Logs are kept in memory and end with the boot; the kernel's own is "dmesg".`

// maxLog bounds a file that is read, far beyond what init lets one grow to.
const maxLog = 64 << 20

func runLog(e *env, c *command, args []string) int {
	fs := c.flags(e)
	lines := fs.Int("n", 200, "")
	if exit, ok := c.parse(e, fs, args, 0, 1); !ok {
		return exit
	}
	names, err := e.logs()
	if err != nil {
		return e.fail(c, err)
	}
	if fs.NArg() == 0 {
		var t grid
		for _, n := range names {
			t.row(n.name, size(n.size))
		}
		fmt.Fprint(e.out, t.String())
		return exitOK
	}
	for _, n := range names {
		if n.name != fs.Arg(0) {
			continue
		}
		var all []byte
		// NAME.1 is the part before NAME; it may be missing, or go while we read.
		for _, f := range []string{n.name + ".1", n.name} {
			data, err := readFile(filepath.Join(e.logDir, f), maxLog)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return e.fail(c, err)
			}
			all = append(all, data...)
		}
		for _, l := range tail(all, *lines) {
			fmt.Fprintln(e.out, printable(l))
		}
		return exitOK
	}
	var known []string
	for _, n := range names {
		known = append(known, n.name)
	}
	return e.fail(c, fmt.Errorf("%q has no log; there are %s", fs.Arg(0), or(strings.Join(known, ", "), "none")))
}

type logName struct {
	name string
	size int64
}

// logs lists the services that have a log.
func (e *env) logs() ([]logName, error) {
	entries, err := os.ReadDir(e.logDir)
	if err != nil {
		return nil, fmt.Errorf("%w: logs are kept on the device, from boot on", err)
	}
	var names []logName
	sizes := map[string]int64{}
	for _, d := range entries {
		fi, err := d.Info()
		if err != nil || !fi.Mode().IsRegular() {
			continue
		}
		sizes[strings.TrimSuffix(d.Name(), ".1")] += fi.Size()
	}
	for _, name := range sortedKeys(sizes) {
		names = append(names, logName{name, sizes[name]})
	}
	return names, nil
}

// tail is the last n lines, all if n is 0 or less.
func tail(data []byte, n int) []string {
	data = bytes.TrimSuffix(data, []byte("\n"))
	if len(data) == 0 {
		return nil
	}
	lines := strings.Split(string(data), "\n")
	if n > 0 && len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return lines
}
