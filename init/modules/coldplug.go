package modules

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// maxRounds bounds Coldplug: a bus driver makes devices appear whose drivers
// make devices appear; no machine nests deeper.
const maxRounds = 8

// Coldplug loads what the devices below sys (/sys/devices on a device) ask
// for, until a round loads nothing new: the driver of a bus brings further
// devices. It goes on after a failure and joins what failed. Devices that
// nothing in the image serves are no fault.
func (l *Loader) Coldplug(ctx context.Context, sys fs.FS) error {
	failed := map[string]error{}
	for range maxRounds {
		before := len(l.names)
		for _, a := range Aliases(sys) {
			for _, name := range l.Index.Match(a) {
				// ENODEV: the driver looked and the device is not its own.
				err := l.Load(ctx, name)
				if err != nil && !errors.Is(err, unix.ENODEV) && !errors.Is(err, ErrMissing) {
					failed[name] = err
				}
			}
		}
		if len(l.names) == before {
			break
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		errs = append(errs, failed[name])
	}
	return errors.Join(errs...)
}

// Aliases reads the modalias files below sys, each text once.
func Aliases(sys fs.FS) []string {
	var all []string
	seen := map[string]bool{}
	// Devices come and go while we look: what cannot be read is not there.
	_ = fs.WalkDir(sys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.Name() != "modalias" || d.IsDir() {
			return nil
		}
		b, err := fs.ReadFile(sys, path)
		if a := strings.TrimSpace(string(b)); err == nil && a != "" && !seen[a] {
			seen[a] = true
			all = append(all, a)
		}
		return nil
	})
	return all
}

// Sys is the folder of the devices the kernel has found.
func Sys() fs.FS { return os.DirFS("/sys/devices") }
