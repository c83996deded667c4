package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"

	"weir/qemu/guesttest"
)

var guestTestCmd = command{
	name: "guest-test", short: "test forwarding in a guest",
	flags: func(fs *flag.FlagSet) func(context.Context, *app) error {
		only := fs.String("run", "", "run only the tests whose name matches this `expression`")
		return func(ctx context.Context, a *app) error {
			o := guesttest.Options{Image: a.image, NoTap: a.noTap, Console: a.log, Report: a.report, Out: os.Stdout}
			if *only != "" {
				re, err := regexp.Compile(*only)
				if err != nil {
					return fmt.Errorf("-run: %w", err)
				}
				o.Only = re
			}
			ok, err := guesttest.Run(ctx, o)
			if err == nil && !ok {
				err = errChecks
			}
			return err
		}
	},
}
