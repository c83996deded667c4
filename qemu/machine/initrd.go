package machine

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/u-root/u-root/pkg/cpio"
)

// WriteInitrd writes base and the parts one after the other to w. The kernel
// skips zero bytes between archives and wants each to start on a multiple of 4
// (init/initramfs.c), so every part is padded to that.
func WriteInitrd(w io.Writer, base string, parts []Part) error {
	c := &counter{w: w}
	if base != "" {
		f, err := os.Open(base)
		if err != nil {
			return fmt.Errorf("open the initramfs (build it with weir-image): %w", err)
		}
		defer f.Close()
		if _, err := io.Copy(c, f); err != nil {
			return fmt.Errorf("copy the initramfs: %w", err)
		}
	}
	for _, p := range parts {
		if err := c.pad(); err != nil {
			return err
		}
		if err := p.write(c); err != nil {
			return err
		}
	}
	return c.pad()
}

func (p Part) write(w io.Writer) error {
	if !p.Compress {
		return p.records(w)
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if err := p.records(z); err != nil {
		return err
	}
	return z.Close()
}

func (p Part) records(w io.Writer) error {
	rw := cpio.Newc.Writer(w)
	made := map[string]bool{}
	for _, f := range p.Files {
		name := strings.TrimPrefix(path.Clean("/"+f.Path), "/")
		for i := range name {
			if d := name[:i]; name[i] == '/' && !made[d] {
				made[d] = true
				if err := rw.WriteRecord(cpio.Directory(d, 0o755)); err != nil {
					return err
				}
			}
		}
		content := f.Content
		if f.Source != "" {
			var err error
			if content, err = os.ReadFile(f.Source); err != nil {
				return fmt.Errorf("file for the guest's /%s: %w", name, err)
			}
		}
		mode := f.Mode
		if mode == 0 {
			mode = 0o644
		}
		if err := rw.WriteRecord(cpio.StaticRecord(content, cpio.Info{Name: name, Mode: cpio.S_IFREG | mode})); err != nil {
			return fmt.Errorf("file for the guest's /%s: %w", name, err)
		}
	}
	return cpio.WriteTrailer(rw)
}

// counter knows how much went through it, for the padding.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

func (c *counter) pad() error {
	_, err := c.Write(make([]byte, (4-c.n%4)%4))
	return err
}
