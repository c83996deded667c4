package build

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"weir/images/arch"
	"weir/images/deb"
	"weir/images/kmod"
	"weir/images/lock"
)

// kernel is what an image takes from a kernel package.
type kernel struct {
	release string
	image   []byte
	modules *kmod.Selection
}

// kernel unpacks the package, once, and takes what the board names.
func (o *Options) kernel(ctx context.Context, pin lock.Pin) (*kernel, error) {
	file, err := o.Cache.Get(pin.SHA256)
	if err != nil {
		return nil, err
	}
	// The version counts the forms of this step's result.
	unpacked, err := o.Cache.Derive(ctx, []string{"unpack kernel 1", pin.SHA256}, func(w io.Writer) error {
		stage := o.Report.Begin(0, "unpack %s", pin.Name)
		err := unpack(ctx, file, pin.Arch, io.MultiWriter(w, stage))
		stage.Finish(err)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer unpacked.Close()
	stage := o.Report.Begin(0, "choose modules for %s", o.Board.Name)
	k, err := choose(unpacked.SectionReader, o.Board.Arch, slices.Concat(o.Board.Modules, o.Board.OnDemand))
	stage.Finish(err)
	if err != nil {
		return nil, err
	}
	for _, w := range k.modules.Warnings {
		o.Report.Warn("%s", w)
	}
	return k, nil
}

// unpack writes the kernel and the modules of a package as a plain tar.
func unpack(ctx context.Context, file, debArch string, w io.Writer) error {
	p, err := deb.Open(file)
	if err != nil {
		return err
	}
	defer p.Close()
	control, err := p.Control()
	if err != nil {
		return err
	}
	if got := control["Architecture"]; got != debArch {
		return fmt.Errorf("package %s is for %s, the board needs %s: correct the lock file with weir-image lock -update: %w", control["Package"], got, debArch, arch.ErrWrong)
	}
	tw := tar.NewWriter(w)
	err = p.Walk(func(h *tar.Header, r io.Reader) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := plainName(h.Name)
		if h.Typeflag != tar.TypeReg || name == "" {
			return nil
		}
		if err := tw.WriteHeader(&tar.Header{Name: name, Size: h.Size, Mode: 0o644, Format: tar.FormatGNU}); err != nil {
			return err
		}
		_, err := io.Copy(tw, r)
		return err
	})
	if err != nil {
		return err
	}
	return tw.Close()
}

// plainName is the name without what differs between releases, "" for a file
// that no image needs.
func plainName(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	name = strings.TrimPrefix(name, "usr/") // merged /usr since trixie
	switch {
	case strings.HasPrefix(name, "boot/vmlinuz-"):
	case strings.HasPrefix(name, "lib/modules/") && (kmod.IsModule(name) || path.Base(name) == "modules.builtin"):
	default:
		return ""
	}
	return name
}

// choose reads kernel and modules out of the unpacked tar.
func choose(r *io.SectionReader, goarch string, names []string) (*kernel, error) {
	t := kmod.Tree{Arch: goarch}
	k := new(kernel)
	where := make(map[string]*io.SectionReader)
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if rel, ok := strings.CutPrefix(h.Name, "boot/vmlinuz-"); ok {
			if k.release != "" {
				return nil, fmt.Errorf("kernel package has two kernels, %s and %s", k.release, rel)
			}
			k.release = rel
			if k.image, err = io.ReadAll(tr); err != nil {
				return nil, err
			}
			continue
		}
		dir, file, ok := strings.Cut(strings.TrimPrefix(h.Name, "lib/modules/"), "/")
		if !ok {
			continue
		}
		t.Release = dir
		if file == "modules.builtin" {
			if t.Builtin, err = io.ReadAll(tr); err != nil {
				return nil, err
			}
			continue
		}
		// The tar reader asks its source for nothing beyond the header, so this is
		// where the contents begin.
		off, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		t.Files = append(t.Files, file)
		where[file] = io.NewSectionReader(r, off, h.Size)
	}
	if k.image == nil || k.release != t.Release {
		return nil, fmt.Errorf("kernel package has kernel %q and modules of %q: it is no Debian kernel package", k.release, t.Release)
	}
	if err := arch.CheckKernel("kernel "+k.release, k.image, goarch); err != nil {
		return nil, err
	}
	t.Read = func(file string) ([]byte, error) { return io.ReadAll(where[file]) }
	var err error
	k.modules, err = t.Select(names)
	return k, err
}
