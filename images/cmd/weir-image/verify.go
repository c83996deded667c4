package main

import (
	"context"
	"flag"
	"path/filepath"

	"weir/images/build"
	"weir/images/lock"
)

var verifyCmd = command{
	name: "verify", args: "-board NAME [-o DIR]",
	short: "check a built image against its manifest and the lock file",
	long: `Hashes the files of an image folder and compares them with its manifest, and the
kernel's package with the lock file. Prints the manifest.`,
	flags: func(fs *flag.FlagSet) func(context.Context, *app) error {
		var c common
		c.register(fs)
		name := boardFlag(fs)
		dir := fs.String("o", "", "the image's `folder` (default build/BOARD)")
		return func(ctx context.Context, a *app) error {
			if err := a.open(c); err != nil {
				return err
			}
			if *dir == "" {
				b, err := lookup(*name)
				if err != nil {
					return err
				}
				*dir = filepath.Join(a.root, "build", b.Name)
			}
			pins, err := lock.Read(a.lock)
			if err != nil {
				return err
			}
			m, err := build.Verify(*dir, pins)
			if err != nil {
				return err
			}
			return m.Print(a.stdout)
		}
	},
}
