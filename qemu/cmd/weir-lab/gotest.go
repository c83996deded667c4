package main

import (
	"context"
	"flag"
	"os"
	"strings"

	"weir/qemu/gotest"
)

var gotestCmd = command{
	name: "gotest", short: "run the project's unit tests in a guest", noLab: true,
	flags: func(fs *flag.FlagSet) func(context.Context, *app) error {
		pkgs := fs.String("packages", "./...", "`patterns` of packages, separated by spaces")
		return func(ctx context.Context, a *app) error {
			ok, err := gotest.Run(ctx, gotest.Options{Image: a.image, Patterns: strings.Fields(*pkgs),
				Console: a.log, Report: a.report, Out: os.Stdout})
			if err == nil && !ok {
				err = errChecks
			}
			return err
		}
	},
}
