package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"weir/board"
	"weir/images/archive"
	"weir/images/atomic"
	"weir/images/cache"
	"weir/images/fetch"
	"weir/images/gobuild"
	"weir/images/initramfs"
	"weir/images/lock"
	"weir/images/progress"
)

// Options says what to build.
type Options struct {
	Board   *board.Board
	Out     string // folder for vmlinuz, initramfs.cpio.gz, manifest.json
	Root    string // the source tree
	Lock    string // the lock file
	Version string // what the programs say they are
	// AnyVersion goes on with the newest kernel when the pinned one cannot be had.
	AnyVersion bool
	// Without names programs to leave out, for work on the others.
	Without []string
	// Extra is files to append as a second archive, by path in the image.
	Extra   map[string]string
	Cache   *cache.Cache
	Sources *fetch.Sources
	Report  *progress.Reporter
}

// LockFile is where the lock file is in the source tree.
func LockFile(root string) string { return filepath.Join(root, "images", "lock.toml") }

// Build makes the image and gives its manifest.
func Build(ctx context.Context, o Options) (*Manifest, error) {
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return nil, fmt.Errorf("output folder %s cannot be made: change its permissions, or name another with -o: %w", o.Out, err)
	}
	pin, locked, err := o.pin(ctx)
	if err != nil {
		return nil, err
	}
	kernel, err := o.kernel(ctx, pin)
	if err != nil {
		return nil, err
	}
	tools, err := gobuild.Use(ctx, o.Root)
	if err != nil {
		return nil, err
	}
	own, err := o.compile(ctx, tools)
	if err != nil {
		return nil, err
	}
	bb, cmds, err := o.busybox(ctx, tools)
	if err != nil {
		return nil, err
	}
	m := &Manifest{
		Board: o.Board.Name, Arch: o.Board.Arch, Version: o.Version, Go: tools.Version, Locked: locked,
		Kernel: Kernel{Release: kernel.release, Package: pin},
	}
	root := o.root(m, kernel, own, bb, cmds)
	if err := o.write(ctx, m, kernel, root); err != nil {
		return nil, err
	}
	return m, nil
}

// pin is the package to build with: the locked one, and where that cannot be
// had, and the user accepts it, the newest.
func (o *Options) pin(ctx context.Context) (_ lock.Pin, locked bool, _ error) {
	asked, arch := o.Board.KernelPackage, o.Board.DebianArch()
	f, err := lock.Read(o.Lock)
	if err != nil {
		return lock.Pin{}, false, err
	}
	pin, err := f.Find(asked, arch)
	if err == nil {
		if _, err = o.Sources.Package(ctx, pin); err == nil {
			return pin, true, nil
		}
	}
	if !o.AnyVersion || !errors.Is(err, archive.ErrGone) && !errors.Is(err, lock.ErrNoPin) {
		return lock.Pin{}, false, err
	}
	o.Report.Warn("%v", err)
	newest, err := o.Sources.Newest(ctx, f.Suite, asked, arch)
	if err != nil {
		return lock.Pin{}, false, err
	}
	if _, err := o.Sources.Package(ctx, newest); err != nil {
		return lock.Pin{}, false, err
	}
	o.Report.Warn("THIS IMAGE IS NOT LOCKED: it has %s %s, which the lock file does not name", newest.Name, newest.Version)
	return newest, false, nil
}

// program is one of Weir's own main packages and where it goes.
type program struct{ pkg, path string }

// programs are all of them but those that the user leaves out.
func (o *Options) programs() []program {
	all := []program{
		{"init", "init"},
		{"init/cmd/weir", "bin/weir"},
		{"netstack/cmd/forwarder", "bin/forwarder"},
	}
	return slices.DeleteFunc(all, func(p program) bool { return slices.Contains(o.Without, path.Base(p.pkg)) })
}

func (o *Options) compile(ctx context.Context, tools *gobuild.Toolchain) (map[string][]byte, error) {
	var pkgs []string
	var names []string
	for _, p := range o.programs() {
		pkgs = append(pkgs, p.pkg)
		names = append(names, path.Base(p.pkg))
	}
	if len(pkgs) == 0 {
		return nil, nil
	}
	stage := o.Report.Begin(0, "compile %s for %s", strings.Join(names, ", "), o.Board.Arch)
	own, err := tools.Programs(ctx, o.Board.Arch, o.Version, pkgs)
	stage.Finish(err)
	return own, err
}

// write puts the image into the output folder, the manifest last: where there is
// one, the image that it describes is complete.
func (o *Options) write(ctx context.Context, m *Manifest, k *kernel, root *initramfs.Archive) error {
	stage := o.Report.Begin(0, "write the image to %s", o.Out)
	err := o.writeAll(ctx, m, k, root)
	stage.Finish(err)
	return err
}

func (o *Options) writeAll(ctx context.Context, m *Manifest, k *kernel, root *initramfs.Archive) error {
	manifest := filepath.Join(o.Out, ManifestName)
	if err := os.Remove(manifest); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	img, err := o.image(root)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{KernelName, k.image}, {InitramfsName, img}} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := atomic.WriteBytes(filepath.Join(o.Out, f.name), f.data); err != nil {
			return err
		}
		m.Files = append(m.Files, part(f.name, f.data))
	}
	b, err := m.JSON()
	if err != nil {
		return err
	}
	return atomic.WriteBytes(manifest, b)
}
