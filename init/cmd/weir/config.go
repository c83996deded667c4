package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/sys/unix"

	"weir/board"
	"weir/init/config"
	"weir/init/report"
)

const checkHelp = `
Reads each FILE ("-" is standard input) as the device would, and prints every
fault with its line, column, key and remedy. The verdict is the device's own.
What a file cannot know, such as whether a port exists, is told when it is
applied. Exit status 1 if a file has faults.`

func runCheck(e *env, c *command, args []string) int {
	fs := c.flags(e)
	if exit, ok := c.parse(e, fs, args, 1, -1); !ok {
		return exit
	}
	exit := exitOK
	for _, file := range fs.Args() {
		cfg, err := e.load(file)
		if err != nil {
			fmt.Fprintln(e.err, err)
			exit = exitFault
			continue
		}
		fmt.Fprintf(e.out, "%s: ok\n%s%s", file, summary(cfg), notes(cfg))
	}
	return exit
}

// notes tells what is valid and yet not what the author may expect.
func notes(cfg *config.Config) string {
	var out strings.Builder
	for _, p := range cfg.Ports {
		if p.Tier == config.TierXDP || p.Tier == config.TierAFPacket {
			fmt.Fprintf(&out, "note: port %s: tier %q is not in this build: the kernel carries the port; use auto or afxdp\n", p.Label, p.Tier)
		}
	}
	return out.String()
}

// load reads and parses a file. The error is all its faults, one a line.
func (e *env) load(file string) (*config.Config, error) {
	var data []byte
	var err error
	if file == "-" {
		data, err = io.ReadAll(io.LimitReader(e.in, config.MaxSize+1))
	} else {
		data, err = readFile(file, config.MaxSize+1)
	}
	if err != nil {
		return nil, err
	}
	cfg, faults := config.Parse(file, data)
	return cfg, faults.Err()
}

// readFile reads at most limit bytes, so that a device file does no harm.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// summary is a configuration in a few lines.
func summary(cfg *config.Config) string {
	var t grid
	for _, p := range cfg.Ports {
		m := p.Match.MAC + p.Match.DT + p.Match.PCI // one of them is set
		var list []string
		for _, a := range p.Address {
			list = append(list, a.String())
		}
		if p.Forward != nil && !*p.Forward {
			list = append(list, "(does not forward)")
		}
		t.row("  port", p.Label, m, string(p.Tier), strings.Join(list, " "))
	}
	for _, r := range cfg.Routes {
		var to []string
		if r.Via.IsValid() {
			to = append(to, "via "+r.Via.String())
		}
		if r.Port != "" {
			to = append(to, "by "+r.Port)
		}
		t.row("  route", r.To.String(), strings.Join(to, " "), "", "")
	}
	return t.String()
}

const showHelp = `
Without FILE: the configuration that the device's ports were last set up from,
with where it came from in a comment. Comments and defaults of the original are
not kept.`

func runShow(e *env, c *command, args []string) int {
	fs := c.flags(e)
	if exit, ok := c.parse(e, fs, args, 0, 1); !ok {
		return exit
	}
	if fs.NArg() == 1 {
		cfg, err := e.load(fs.Arg(0))
		if err != nil {
			fmt.Fprintln(e.err, err)
			return exitFault
		}
		e.out.Write(config.Encode(cfg))
		return exitOK
	}
	cfg, from, err := e.inForce()
	if err != nil {
		return e.fail(c, err)
	}
	fmt.Fprintf(e.out, "# in force: %s\n%s", from, config.Encode(cfg))
	return exitOK
}

// inForce finds the configuration in force: what was applied last; before that,
// the operator's file; without a good one, the board's.
func (e *env) inForce() (cfg *config.Config, from string, err error) {
	if cfg, err := e.load(e.inForcePath); err == nil {
		from := "applied to the running device"
		if r, err := report.Read(e.reportPath); err == nil && r.Config != "" {
			from = "at boot from the " + r.Config
			if strings.HasPrefix(r.Config, "/") {
				from = "at boot from " + r.Config
			}
		}
		if own, err := e.load(e.configPath); err == nil && string(config.Encode(own)) != string(config.Encode(cfg)) {
			from = "applied by hand, differs from " + e.configPath
		}
		return cfg, from, nil
	}
	cfg, err = e.load(e.configPath)
	if err == nil {
		return cfg, e.configPath, nil
	}
	name, berr := os.ReadFile(e.boardPath)
	if berr != nil {
		return nil, "", fmt.Errorf("%w, and this is no Weir device: name a FILE", err)
	}
	b, berr := board.Lookup(strings.TrimSpace(string(name)))
	if berr != nil {
		return nil, "", errors.Join(err, berr)
	}
	cfg, faults := config.Parse(b.Name+"/weir.toml", b.DefaultConfig)
	return cfg, "the default of board " + b.Name, faults.Err()
}

const applyHelp = `
Parses FILE (/etc/weir.toml if none is given) and, if it has no fault, makes the
ports as it says: names, MTU, addresses, routes, forwarding, and the host name.
Prints each change; applying again changes nothing. It stays in force until the next boot or apply.
Which ports the forwarder carries, and in which tier, was settled at boot and stays.
Needs root, on the device.`

func runApply(e *env, c *command, args []string) int {
	fs := c.flags(e)
	if exit, ok := c.parse(e, fs, args, 0, 1); !ok {
		return exit
	}
	file := e.configPath
	if fs.NArg() == 1 {
		file = fs.Arg(0)
	}
	cfg, err := e.load(file)
	if err != nil {
		fmt.Fprintf(e.err, "%v\nnothing was changed\n", err)
		return exitFault
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	defer stop()
	res, err := e.apply(ctx, cfg)
	if was, herr := os.Hostname(); herr == nil && cfg.Hostname != "" && cfg.Hostname != was {
		if herr := e.setHostname([]byte(cfg.Hostname)); herr != nil {
			err = errors.Join(err, fmt.Errorf("set the host name %s: %w", cfg.Hostname, herr))
		} else {
			res.Changes = append(res.Changes, fmt.Sprintf("the host name is now %s, was %s", cfg.Hostname, was))
		}
	}
	for _, change := range res.Changes {
		fmt.Fprintln(e.out, printable(change))
	}
	if err != nil && unix.Geteuid() != 0 {
		err = fmt.Errorf("%w\nonly root can set up ports: run it on the device's console", err)
	}
	if err != nil {
		return e.fail(c, err)
	}
	if len(res.Changes) == 0 {
		fmt.Fprintln(e.out, "nothing to change")
	}
	return exitOK
}
