package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"weir/qemu/demo"
	"weir/qemu/gateway"
)

var demoCmd = command{
	name: "demo", short: "show that an image forwards: boot, ping, iperf3, 1000 flows, counters",
	flags: func(fs *flag.FlagSet) func(context.Context, *app) error {
		out := fs.String("json", "", "write all figures to a `file` too")
		seed := fs.Uint64("seed", 0, "seed of the load (0: the usual one)")
		keep := fs.Bool("keep", false, "keep the lab running after the checks, until Ctrl-C")
		return func(ctx context.Context, a *app) error {
			start := time.Now()
			o := demo.Options{Image: a.image, NoTap: a.noTap, Seed: *seed, Console: a.log, Report: a.report}
			if *keep {
				o.Keep = func(g *gateway.Gateway, r *demo.Result) {
					r.Print(os.Stdout)
					fmt.Fprintf(os.Stderr, "\n%s\nCtrl-C ends the lab.\n", howTo(g.Lab))
					select {
					case <-ctx.Done():
					case <-g.Ended():
					}
				}
			}
			r, err := demo.Run(ctx, o)
			if r != nil && r.Boot != nil && !*keep {
				err = errors.Join(err, r.Print(os.Stdout))
			}
			if *out != "" {
				b, jerr := json.MarshalIndent(r, "", "  ")
				if jerr == nil {
					jerr = os.WriteFile(*out, append(b, '\n'), 0o644)
				}
				if jerr != nil {
					return jerr
				}
			}
			if err != nil {
				return err
			}
			took := time.Since(start).Seconds()
			if !r.OK() {
				fmt.Printf("\nNot all checks passed (%.0f s).\n", took)
				return errChecks
			}
			fmt.Printf("\nAll checks passed: the gateway booted, routed without loss, and its workers did it (%.0f s).\n", took)
			return nil
		}
	},
}
