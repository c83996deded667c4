package repro

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"weir/images/build"
	"weir/images/progress"
)

// ErrDiffers: two builds of the same inputs are not the same.
var ErrDiffers = errors.New("not reproducible")

// ErrDeaf: an input was changed and the image was not.
var ErrDeaf = errors.New("image does not depend on its input")

// Options says what to build twice.
type Options struct {
	Self  string // the weir-image program
	Root  string // the source tree, copied and not changed
	Board string
	// Blobs are files to put into both caches at first: path in a cache → file.
	// What takes no part in compiling need not be fetched twice.
	Blobs map[string]string
	// Args are further flags for weir-image build.
	Args   []string
	Report *progress.Reporter
	Stderr io.Writer
}

// place is one of the two surroundings.
type place struct {
	dir   string
	umask int
	env   []string
}

// Run builds, compares, changes and compares. On failure the folders stay, and
// the error names them.
func Run(ctx context.Context, o Options) (err error) {
	tmp, err := os.MkdirTemp("", "weir-repro-")
	if err != nil {
		return err
	}
	defer func() {
		if err == nil || ctx.Err() != nil {
			os.RemoveAll(tmp)
		}
	}()
	places := []place{
		{filepath.Join(tmp, "a"), 0o022, []string{"TZ=UTC", "LANG=C", "USER=alice"}},
		{filepath.Join(tmp, "another", "and-longer", "folder"), 0o077, []string{"TZ=Pacific/Chatham", "LANG=de_DE.UTF-8", "USER=bob"}},
	}
	// Both copies before the first build, the second from the first: someone may be
	// working in the source tree.
	from := o.Root
	for _, p := range places {
		if err := o.prepare(p, from); err != nil {
			return err
		}
		from = filepath.Join(p.dir, "tree")
	}
	var outs []string
	for i, p := range places {
		o.Report.Note("build %d of 2, in %s", i+1, p.dir)
		out, err := o.build(ctx, p, "out")
		if err != nil {
			return err
		}
		outs = append(outs, out)
	}
	if err := compare(outs[0], outs[1]); err != nil {
		return fmt.Errorf("%w (the folders stay in %s)", err, tmp)
	}
	o.Report.Note("both builds are the same, byte for byte")

	last := places[1]
	file := filepath.Join("board", o.Board, "weir.toml")
	o.Report.Note("one byte of %s changed", file)
	if err := changeOneByte(filepath.Join(last.dir, "tree", file)); err != nil {
		return err
	}
	changed, err := o.build(ctx, last, "changed")
	if err != nil {
		return err
	}
	if compare(outs[1], changed) == nil {
		return fmt.Errorf("%w: one byte of %s was changed (the folders stay in %s)", ErrDeaf, file, tmp)
	}
	o.Report.Note("and the image is another one")
	return nil
}

// prepare copies the tree at from, and fills the cache of a place.
func (o *Options) prepare(p place, from string) error {
	old := unix.Umask(p.umask)
	defer unix.Umask(old)
	for _, d := range []string{"tree", "tmp", "home"} {
		if err := os.MkdirAll(filepath.Join(p.dir, d), 0o777); err != nil {
			return err
		}
	}
	if err := copyTree(from, filepath.Join(p.dir, "tree")); err != nil {
		return err
	}
	for name, file := range o.Blobs {
		if err := copyFile(file, filepath.Join(p.dir, "cache", name)); err != nil {
			return err
		}
	}
	return nil
}

// build runs weir-image in a place and gives the output folder.
func (o *Options) build(ctx context.Context, p place, name string) (string, error) {
	out := filepath.Join(p.dir, name)
	args := append([]string{"build", "-board", o.Board, "-o", out, "-cache", filepath.Join(p.dir, "cache")}, o.Args...)
	cmd := exec.CommandContext(ctx, o.Self, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir = filepath.Join(p.dir, "tree")
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Env = append(cmd.Env,
		"GOCACHE="+filepath.Join(p.dir, "go-build"),
		"TMPDIR="+filepath.Join(p.dir, "tmp"),
	)
	cmd.Stderr = o.Stderr
	// The umask is the process's: nothing else runs in it at this point.
	old := unix.Umask(p.umask)
	err := cmd.Run()
	unix.Umask(old)
	if err != nil {
		return "", fmt.Errorf("build in %s: %w", p.dir, err)
	}
	return out, nil
}

// compare holds two image folders against each other.
func compare(a, b string) error {
	var errs []error
	for _, name := range []string{build.KernelName, build.InitramfsName, build.ManifestName} {
		x, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			return err
		}
		y, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			return err
		}
		if bytes.Equal(x, y) {
			continue
		}
		what := ""
		if name == build.InitramfsName {
			if names := differing(x, y); len(names) > 0 {
				what = ": " + strings.Join(names, ", ")
			}
		}
		errs = append(errs, fmt.Errorf("%w: %s differs%s", ErrDiffers, name, what))
	}
	return errors.Join(errs...)
}

// changeOneByte turns the first letter of a file's first comment.
func changeOneByte(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	i := bytes.IndexByte(b, '#') + 2
	if i < 2 || i >= len(b) || b[i] == '\n' {
		return fmt.Errorf("%s has no comment to change a byte of", file)
	}
	b[i] ^= 0x20
	return os.WriteFile(file, b, 0o600)
}
