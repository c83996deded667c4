package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"weir/board"
	"weir/images/progress"
	"weir/qemu/gateway"
	"weir/qemu/lab"
)

// errChecks ends the program with status 1 without another word: what failed
// has been printed.
var errChecks = errors.New("some checks failed")

// app is what the commands share.
type app struct {
	report *progress.Reporter
	image  *gateway.Image
	noTap  bool
	log    *os.File // the guest's console
}

type command struct {
	name, short string
	// noLab is set for a command that needs no network.
	noLab bool
	// flags adds the command's own and returns what runs it.
	flags func(*flag.FlagSet) func(context.Context, *app) error
}

var commands = []command{demoCmd, qemuCmd, guestTestCmd, faultsCmd, gotestCmd}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := run(ctx, os.Args[1:])
	switch {
	case err == nil:
		return
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "weir-lab: interrupted; the lab is gone")
	case !errors.Is(err, errChecks):
		fmt.Fprintln(os.Stderr, "weir-lab:", err)
	}
	os.Exit(1)
}

func run(ctx context.Context, args []string) error {
	var c *command
	for i := range commands {
		if len(args) > 0 && args[0] == commands[i].name {
			c = &commands[i]
		}
	}
	if c == nil {
		fmt.Fprintln(os.Stderr, "Usage: weir-lab COMMAND [-board NAME] [flags]\n\nCommands:")
		for _, c := range commands {
			fmt.Fprintf(os.Stderr, "  %-11s %s\n", c.name, c.short)
		}
		return flag.ErrHelp
	}
	fs := flag.NewFlagSet("weir-lab "+c.name, flag.ContinueOnError)
	name := fs.String("board", "qemu-arm64", "board to boot: "+strings.Join(emulated(), " or "))
	dir := fs.String("image", "", "use the image in this `folder` as it is (default: build one into build/BOARD)")
	noTap := fs.Bool("no-tap", false, "wire the lab with relays even where taps can be had, as without root")
	log := fs.String("console", "", "copy the guest's console to a `file`")
	do := c.flags(fs)
	if err := fs.Parse(args[1:]); err != nil {
		return flag.ErrHelp // Parse has said what is wrong
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("%q is one argument too many: weir-lab %s -h lists the flags", fs.Arg(0), c.name)
	}
	a := &app{report: progress.New(os.Stderr), noTap: *noTap}
	b, err := board.Lookup(*name)
	if err != nil {
		return err
	}
	if a.image, err = gateway.ImageIn(b, *dir); err != nil {
		return err
	}
	if !lab.Entered() {
		if err := prepare(ctx, a, *dir != ""); err != nil {
			return err
		}
		if !c.noLab && lab.NeedsEnter() {
			a.report.Note("Not root: the lab lives in a user namespace.")
			code, err := lab.Enter()
			if err != nil {
				return err
			}
			os.Exit(code)
		}
	}
	if *log != "" {
		if a.log, err = os.Create(*log); err != nil {
			return err
		}
		defer a.log.Close()
	}
	return do(ctx, a)
}

// prepare builds what the machine boots.
func prepare(ctx context.Context, a *app, ready bool) error {
	if ready {
		return a.image.BuildAgent(ctx)
	}
	a.report.Note("build the image of %s", a.image.Board.Name)
	return a.image.Build(ctx)
}

func emulated() []string {
	var names []string
	for _, b := range board.All() {
		if b.QEMU != nil {
			names = append(names, b.Name)
		}
	}
	return names
}
