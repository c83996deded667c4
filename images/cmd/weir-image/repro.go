package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"weir/images/lock"
	"weir/images/repro"
)

var reproCmd = command{
	name: "repro", args: "-board NAME [flags]",
	short: "prove that a board's image is reproducible",
	long: `Builds the image from two copies of the source tree, in two folders with separate
and empty build caches, under another umask, time zone and language, and compares
the bytes; then changes one byte of an input and looks for another image. Takes two
full builds, so minutes.`,
	flags: func(fs *flag.FlagSet) func(context.Context, *app) error {
		var c common
		c.register(fs)
		name := boardFlag(fs)
		anyVersion := fs.Bool("any-version", false, "go on with the newest kernel if the pinned one cannot be had")
		return func(ctx context.Context, a *app) error {
			b, err := lookup(*name)
			if err != nil {
				return err
			}
			if err := a.open(c); err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			o := repro.Options{
				Self: self, Root: a.root, Board: b.Name, Report: a.report, Stderr: a.stderr,
				Args: []string{"-lock", a.lock}, Blobs: make(map[string]string),
			}
			if *anyVersion {
				o.Args = append(o.Args, "-any-version")
			}
			f, err := lock.Read(a.lock)
			if err != nil {
				return err
			}
			if pin, err := f.Find(b.KernelPackage, b.DebianArch()); err == nil {
				// What cannot be had is left to the builds, which know what to do.
				if file, err := a.sources.Package(ctx, pin); err == nil {
					rel, err := filepath.Rel(a.cache.Dir(), file)
					if err != nil {
						return err
					}
					o.Blobs[rel] = file
				}
			}
			if err := repro.Run(ctx, o); err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "%s: two builds are the same, byte for byte, and one changed byte makes another image\n", b.Name)
			return nil
		}
	},
}
