package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	"weir/images/build"
)

var buildCmd = command{
	name: "build", args: "-board NAME [-o DIR] [flags]",
	short: "build an image",
	long: `Builds the kernel and initramfs of a board into DIR: vmlinuz, initramfs.cpio.gz
and manifest.json. The same source tree, lock file and Go release give the same
bytes on every machine, in every folder.

The kernel is the package that the lock file pins: from the cache, the mirror, or
the archive in DEBIAN_SNAPSHOT. If none has it the build ends, unless -any-version
lets it go on with the newest; the image then says that it is not locked.`,
	flags: func(fs *flag.FlagSet) func(context.Context, *app) error {
		var c common
		c.register(fs)
		name := boardFlag(fs)
		out := fs.String("o", "", "output `folder` (default build/BOARD)")
		anyVersion := fs.Bool("any-version", false, "go on with the newest kernel if the pinned one cannot be had, and mark the image unlocked")
		version := fs.String("version", "devel", "what the programs say `version` they are")
		without := fs.String("without", "", "leave out these `programs` (init, weir, forwarder), for work on the others")
		extra := make(extraFlag)
		fs.Var(extra, "extra", "append a file to the image, as `FILE=PATH`; may be repeated")
		return func(ctx context.Context, a *app) error {
			b, err := lookup(*name)
			if err != nil {
				return err
			}
			if err := a.open(c); err != nil {
				return err
			}
			if *out == "" {
				*out = filepath.Join(a.root, "build", b.Name)
			}
			m, err := build.Build(ctx, build.Options{
				Board: b, Out: *out, Root: a.root, Lock: a.lock, Version: *version,
				AnyVersion: *anyVersion, Extra: extra,
				Without: strings.FieldsFunc(*without, func(r rune) bool { return r == ',' }),
				Cache:   a.cache, Sources: a.sources, Report: a.report,
			})
			if err != nil {
				return err
			}
			return m.Print(a.stdout)
		}
	},
}

// extraFlag collects FILE=PATH, by path in the image.
type extraFlag map[string]string

func (e extraFlag) String() string { return "" }

func (e extraFlag) Set(v string) error {
	file, path, ok := strings.Cut(v, "=")
	if !ok || file == "" || !strings.HasPrefix(path, "/") {
		return fmt.Errorf("%q is not FILE=PATH: write for example my.toml=/etc/weir.toml", v)
	}
	e[path] = file
	return nil
}
