package main

import (
	"context"
	"flag"
	"os"

	"weir/qemu/faults"
)

var faultsCmd = command{
	name: "faults", short: "show in a guest that nothing brings the machine down",
	flags: func(*flag.FlagSet) func(context.Context, *app) error {
		return func(ctx context.Context, a *app) error {
			ok, err := faults.Run(ctx, faults.Options{Image: a.image, NoTap: a.noTap, Console: a.log, Report: a.report, Out: os.Stdout})
			if err == nil && !ok {
				err = errChecks
			}
			return err
		}
	},
}
