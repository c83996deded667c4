package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"

	"weir/board"
	"weir/images/build"
	"weir/images/lock"
)

var fetchCmd = command{
	name: "fetch", args: "[-board NAME] [flags]",
	short: "download the pinned packages into the cache",
	long: `Downloads what the lock file pins, for one board or for all, so that later builds
need no network.`,
	flags: func(fs *flag.FlagSet) func(context.Context, *app) error {
		var c common
		c.register(fs)
		name := boardFlag(fs)
		return func(ctx context.Context, a *app) error {
			if err := a.open(c); err != nil {
				return err
			}
			boards := board.All()
			if *name != "" {
				b, err := lookup(*name)
				if err != nil {
					return err
				}
				boards = []*board.Board{b}
			}
			f, err := lock.Read(a.lock)
			if err != nil {
				return err
			}
			for _, b := range boards {
				pin, err := f.Find(b.KernelPackage, b.DebianArch())
				if err != nil {
					return err
				}
				file, err := a.sources.Package(ctx, pin)
				if err != nil {
					return err
				}
				fmt.Fprintf(a.stdout, "%s: %s %s in %s\n", b.Name, pin.Name, pin.Version, file)
			}
			return nil
		}
	},
}

var lockCmd = command{
	name: "lock", args: "[-update] [flags]",
	short: "show or move the lock file",
	long: `Shows what is pinned. With -update every pin moves to the newest version in the
mirror's signed index; the packages are fetched and checked, and the file is written.`,
	flags: func(fs *flag.FlagSet) func(context.Context, *app) error {
		var c common
		c.register(fs)
		update := fs.Bool("update", false, "move every pin to the newest version")
		return func(ctx context.Context, a *app) error {
			if err := a.open(c); err != nil {
				return err
			}
			var f *lock.File
			var err error
			if *update {
				f, err = build.UpdateLock(ctx, a.lock, a.sources)
			} else {
				f, err = lock.Read(a.lock)
			}
			if err != nil {
				return err
			}
			for _, p := range f.Pins {
				fmt.Fprintf(a.stdout, "%s/%s: %s %s %s\n", p.For, p.Arch, p.Name, p.Version, p.SHA256)
			}
			return nil
		}
	},
}

var boardsCmd = command{
	name: "boards", args: "[-json]",
	short: "list the boards",
	long:  `Lists the boards that images can be built for.`,
	flags: func(fs *flag.FlagSet) func(context.Context, *app) error {
		asJSON := fs.Bool("json", false, "print all that is known of each, as JSON")
		return func(ctx context.Context, a *app) error {
			if *asJSON {
				enc := json.NewEncoder(a.stdout)
				enc.SetIndent("", "  ")
				return enc.Encode(board.All())
			}
			for _, b := range board.All() {
				fmt.Fprintf(a.stdout, "%-12s %-6s %s\n", b.Name, b.Arch, b.Description)
			}
			return nil
		}
	},
}
