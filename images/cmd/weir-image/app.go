package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"weir/board"
	"weir/images/build"
	"weir/images/cache"
	"weir/images/fetch"
	"weir/images/gobuild"
	"weir/images/progress"
)

// app is what all commands share.
type app struct {
	stdout, stderr io.Writer
	report         *progress.Reporter
	cache          *cache.Cache
	sources        *fetch.Sources
	root           string
	lock           string
}

// common is the flags of every command that uses cache and lock file.
type common struct{ cache, lock string }

func (c *common) register(fs *flag.FlagSet) {
	fs.StringVar(&c.cache, "cache", "", "`folder` of downloads and compiled parts (default $XDG_CACHE_HOME/weir or ~/.cache/weir)")
	fs.StringVar(&c.lock, "lock", "", "lock `file` (default images/lock.toml of the source tree)")
}

// open prepares the app for a command that builds or fetches.
func (a *app) open(c common) error {
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	if a.root, err = gobuild.Root(wd); err != nil {
		return err
	}
	if a.lock = c.lock; a.lock == "" {
		a.lock = build.LockFile(a.root)
	}
	dir := c.cache
	if dir == "" {
		if dir, err = cache.Default(); err != nil {
			return err
		}
	}
	a.report = progress.New(a.stderr)
	if a.cache, err = cache.Open(dir); err != nil {
		return err
	}
	a.cache.Waiting = func(holder string) {
		a.report.Note("waiting for %s, which is adding to %s", holder, dir)
	}
	a.sources = fetch.New(a.cache, a.report)
	return nil
}

// boardFlag is the -board flag.
func boardFlag(fs *flag.FlagSet) *string {
	return fs.String("board", "", "`name` of the board; weir-image boards lists them")
}

func lookup(name string) (*board.Board, error) {
	if name == "" {
		return nil, fmt.Errorf("no board: name one with -board, weir-image boards lists them")
	}
	return board.Lookup(name)
}
