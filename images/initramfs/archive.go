package initramfs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/u-root/mkuimage/cpio"
)

// Archive collects entries. The zero value is empty and ready.
type Archive struct {
	entries map[string]entry
	err     error // the first fault of the adding calls, reported by Write
}

// entry is one file, folder, link or device.
type entry struct {
	mode       uint64 // with the file type
	data       []byte // contents, or the target of a link
	rmaj, rmin uint64
}

// add takes name without its leading slash, makes the folders above it, and
// remembers a fault rather than returning it, so that callers read as a list.
func (a *Archive) add(name string, e entry) {
	if a.entries == nil {
		a.entries = make(map[string]entry)
	}
	clean := strings.TrimPrefix(path.Clean("/"+name), "/")
	if clean == "" || strings.ContainsRune(name, 0) {
		a.fault(fmt.Errorf("initramfs: %q is no name for a file", name))
		return
	}
	for dir := path.Dir(clean); dir != "."; dir = path.Dir(dir) {
		if up, ok := a.entries[dir]; !ok {
			a.entries[dir] = entry{mode: cpio.S_IFDIR | 0o755}
		} else if up.mode&cpio.S_IFMT != cpio.S_IFDIR {
			a.fault(fmt.Errorf("initramfs: /%s cannot be below /%s, which is no folder", clean, dir))
			return
		}
	}
	if old, ok := a.entries[clean]; ok {
		if old.mode&cpio.S_IFMT == cpio.S_IFDIR && e.mode&cpio.S_IFMT == cpio.S_IFDIR {
			a.entries[clean] = e // a folder that was made on the way gets its mode
			return
		}
		a.fault(fmt.Errorf("initramfs: /%s is there twice: remove one of them", clean))
		return
	}
	a.entries[clean] = e
}

func (a *Archive) fault(err error) { a.err = cmp.Or(a.err, err) }

// File adds a regular file. data is kept, not copied.
func (a *Archive) File(name string, perm uint64, data []byte) {
	a.add(name, entry{mode: cpio.S_IFREG | perm&0o7777, data: data})
}

// Dir adds a folder; folders on the way to a file are added anyway, with 0755.
func (a *Archive) Dir(name string, perm uint64) {
	a.add(name, entry{mode: cpio.S_IFDIR | perm&0o7777})
}

// Symlink adds name, pointing to target.
func (a *Archive) Symlink(name, target string) {
	a.add(name, entry{mode: cpio.S_IFLNK | 0o777, data: []byte(target)})
}

// CharDev adds a character device node.
func (a *Archive) CharDev(name string, perm, major, minor uint64) {
	a.add(name, entry{mode: cpio.S_IFCHR | perm&0o7777, rmaj: major, rmin: minor})
}

// WriteCPIO writes the plain archive.
func (a *Archive) WriteCPIO(w io.Writer) error {
	if a.err != nil {
		return a.err
	}
	rw := cpio.Newc.Writer(w)
	names := slices.Sorted(maps.Keys(a.entries)) // a folder sorts before what is in it
	for i, name := range names {
		if err := rw.WriteRecord(a.record(name, uint64(i)+1)); err != nil {
			return fmt.Errorf("initramfs: /%s: %w", name, err)
		}
	}
	if err := cpio.WriteTrailer(rw); err != nil {
		return fmt.Errorf("initramfs: %w", err)
	}
	return nil
}

func (a *Archive) record(name string, ino uint64) cpio.Record {
	e := a.entries[name]
	info := cpio.Info{Name: name, Ino: ino, Mode: e.mode, NLink: 1, Rmajor: e.rmaj, Rminor: e.rmin}
	if e.mode&cpio.S_IFMT == cpio.S_IFDIR {
		info.NLink = 2 // "." and the name in the folder above, plus one for each folder in it
		for other, o := range a.entries {
			if o.mode&cpio.S_IFMT == cpio.S_IFDIR && path.Dir(other) == name {
				info.NLink++
			}
		}
	}
	return cpio.StaticRecord(e.data, info)
}

// WriteGzip writes the archive compressed. The compressor is a library at a
// version that go.mod pins, so a new Go release does not change its bytes.
func (a *Archive) WriteGzip(w io.Writer) error {
	zw, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := a.WriteCPIO(zw); err != nil {
		return err
	}
	return zw.Close()
}

// Append adds a second archive behind image, which has n bytes so far. The
// kernel looks for the next archive at a multiple of 4 (init/initramfs.c,
// unpack_to_rootfs) and ignores one that lies elsewhere without a word; at least
// four zeros end every compressed format it knows.
func Append(image io.Writer, n int64, second *Archive) error {
	var plain bytes.Buffer
	if err := second.WriteCPIO(&plain); err != nil {
		return err
	}
	if plain.Len() == 0 {
		return errors.New("initramfs: nothing to append")
	}
	if _, err := image.Write(make([]byte, padding(n))); err != nil {
		return err
	}
	_, err := image.Write(plain.Bytes())
	return err
}

// padding is the zeros between archives: 4 to 7, up to a multiple of 4.
func padding(n int64) int64 { return 4 + (4-n%4)%4 }
