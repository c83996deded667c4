package build

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"

	"weir/images/gobuild"
	"weir/images/initramfs"
)

// busybox is u-root's commands, from the cache if nothing they are made of has
// changed.
func (o *Options) busybox(ctx context.Context, tools *gobuild.Toolchain) (_ []byte, cmds []string, _ error) {
	cmds, err := tools.Commands()
	if err != nil {
		return nil, nil, err
	}
	d, err := o.Cache.Derive(ctx, tools.BusyboxInputs(o.Board.Arch, cmds), func(w io.Writer) error {
		stage := o.Report.Begin(0, "compile %d commands of u-root for %s", len(cmds), o.Board.Arch)
		err := tools.Busybox(ctx, o.Board.Arch, cmds, w)
		stage.Finish(err)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	b, err := io.ReadAll(d)
	return b, cmds, err
}

// root is the first file system.
func (o *Options) root(m *Manifest, k *kernel, own map[string][]byte, bb []byte, cmds []string) *initramfs.Archive {
	a := new(initramfs.Archive)
	// The kernel opens /dev/console before PID 1 runs; PID 1 mounts the rest of /dev.
	a.CharDev("dev/console", 0o600, 5, 1)
	a.CharDev("dev/null", 0o666, 1, 3)
	for _, d := range []string{"dev/pts", "etc", "mnt", "proc", "run", "sys", "var", "lib"} {
		a.Dir(d, 0o755)
	}
	a.Dir("root", 0o700)
	a.Dir("tmp", 0o1777)

	for _, p := range o.programs() {
		data := own[path.Base(p.pkg)]
		a.File(p.path, 0o755, data)
		m.add(p.path, int64(len(data)))
	}
	a.File("bbin/bb", 0o755, bb)
	m.add(fmt.Sprintf("bbin/bb (%d commands)", len(cmds)), int64(len(bb)))
	for _, c := range cmds {
		name := gobuild.CommandName(c)
		a.Symlink("bbin/"+name, "bb")
		// Not to bb itself: it looks at the last link of a chain for its name.
		a.Symlink("bin/"+name, "../bbin/"+name)
	}
	a.Symlink("bin/sh", "../bbin/gosh")

	dir := "lib/modules/" + k.release + "/"
	var size int64
	for _, mod := range k.modules.Modules {
		a.File(dir+mod.File, 0o644, mod.Data)
		size += int64(len(mod.Data))
	}
	tables := k.modules.Tables()
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		a.File(dir+name, 0o644, tables[name])
		size += int64(len(tables[name]))
	}
	m.add(fmt.Sprintf("lib/modules (%d)", len(k.modules.Modules)), size)

	etc := map[string]string{
		"etc/weir/board":   o.Board.Name + "\n",
		"etc/weir/release": m.release(),
		"etc/hosts":        "127.0.0.1 localhost\n::1 localhost\n",
		"etc/passwd":       "root:x:0:0:root:/root:/bbin/gosh\n",
		"etc/group":        "root:x:0:\n",
	}
	size = 0
	for _, name := range slices.Sorted(maps.Keys(etc)) {
		a.File(name, 0o644, []byte(etc[name]))
		size += int64(len(etc[name]))
	}
	m.add("etc", size)
	return a
}

// image is the compressed archive, with the extra files behind it.
func (o *Options) image(root *initramfs.Archive) ([]byte, error) {
	var img bytes.Buffer
	if err := root.WriteGzip(&img); err != nil {
		return nil, err
	}
	if len(o.Extra) == 0 {
		return img.Bytes(), nil
	}
	extra := new(initramfs.Archive)
	for _, name := range slices.Sorted(maps.Keys(o.Extra)) {
		b, err := os.ReadFile(o.Extra[name])
		if err != nil {
			return nil, fmt.Errorf("extra file: %w", err)
		}
		fi, err := os.Stat(o.Extra[name])
		if err != nil {
			return nil, err
		}
		// Only whether it can be run: the rest of the mode is the umask's.
		perm := uint64(0o644)
		if fi.Mode()&0o100 != 0 {
			perm = 0o755
		}
		extra.File(name, perm, b)
	}
	if err := initramfs.Append(&img, int64(img.Len()), extra); err != nil {
		return nil, err
	}
	return img.Bytes(), nil
}
