package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/sys/unix"
)

// command is one sub-command.
type command struct {
	name, args, short, long string
	// flags registers the command's flags and gives what runs with them.
	flags func(*flag.FlagSet) func(context.Context, *app) error
}

var commands = []command{buildCmd, fetchCmd, lockCmd, verifyCmd, reproCmd, boardsCmd}

// errUsage ends with status 2; the message is already out.
var errUsage = errors.New("usage")

func main() {
	// An interrupt cancels: what is half-written is removed, then we end.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil:
	case errors.Is(err, errUsage):
		os.Exit(2)
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "weir-image: interrupted; nothing half-written is left")
		os.Exit(130)
	default:
		fmt.Fprintf(os.Stderr, "weir-image: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		usage(stderr)
		return errUsage
	}
	name := args[0]
	if name == "help" || name == "-h" || name == "-help" || name == "--help" {
		if len(args) > 1 {
			return run(ctx, []string{args[1], "-h"}, stdout, stdout)
		}
		usage(stdout)
		return nil
	}
	for _, c := range commands {
		if c.name != name {
			continue
		}
		fs := flag.NewFlagSet(name, flag.ContinueOnError)
		fs.SetOutput(stderr)
		fs.Usage = func() {
			fmt.Fprintf(fs.Output(), "Usage: weir-image %s %s\n\n%s\n\nFlags:\n", c.name, c.args, c.long)
			fs.PrintDefaults()
		}
		do := c.flags(fs)
		switch err := fs.Parse(args[1:]); {
		case errors.Is(err, flag.ErrHelp):
			return nil
		case err != nil:
			return errUsage
		}
		if fs.NArg() > 0 {
			fmt.Fprintf(stderr, "weir-image %s: unexpected argument %q: run weir-image help %s\n", name, fs.Arg(0), name)
			return errUsage
		}
		return do(ctx, &app{stdout: stdout, stderr: stderr})
	}
	fmt.Fprintf(stderr, "weir-image: unknown command %q: run weir-image help\n", name)
	return errUsage
}

func usage(w io.Writer) {
	var b strings.Builder
	b.WriteString("weir-image builds Weir's images.\n\nUsage: weir-image COMMAND [flags]\n\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "  %-8s %s\n", c.name, c.short)
	}
	b.WriteString(`
"weir-image help COMMAND" tells more about one.

Environment:
  DEBIAN_MIRROR    base URL of the Debian mirror; otherwise the first in apt's
                   configuration is used
  DEBIAN_SNAPSHOT  base URL of a snapshot archive (BASE/archive/debian/TIME/...),
                   asked for pinned packages that the mirror no longer has
  DEBIAN_KEYRING   OpenPGP keyring to check the archive with; otherwise the one of
                   the package debian-archive-keyring
  XDG_CACHE_HOME   the cache is its folder weir; otherwise ~/.cache/weir
`)
	io.WriteString(w, b.String())
}
