package repro

import (
	"bytes"
	"crypto/sha256"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/u-root/mkuimage/cpio"
)

// skip is what is in the folder of the source tree and not source.
var skip = map[string]bool{".git": true, "build": true, ".cache": true}

// copyTree copies the source tree, with the modes that the umask gives.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		switch {
		case skip[rel]:
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		case !d.Type().IsRegular():
			return nil
		}
		return copyFile(p, filepath.Join(to, rel))
	})
}

func copyFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// differing names the entries in which two initramfs differ, as far as they can
// be read.
func differing(a, b []byte) []string {
	x, y := entries(a), entries(b)
	var names []string
	for _, n := range slices.Sorted(maps.Keys(x)) {
		if x[n] != y[n] {
			names = append(names, n)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(y)) {
		if _, ok := x[n]; !ok {
			names = append(names, n)
		}
	}
	return names
}

// entry is what an archive says about a name.
type entry struct {
	info cpio.Info
	sum  [sha256.Size]byte
}

func entries(img []byte) map[string]entry {
	zr, err := gzip.NewReader(bytes.NewReader(img))
	if err != nil {
		return nil
	}
	zr.Multistream(false) // a second archive may follow
	plain, err := io.ReadAll(zr)
	if err != nil {
		return nil
	}
	records, err := cpio.ReadAllRecords(cpio.Newc.Reader(bytes.NewReader(plain)))
	if err != nil {
		return nil
	}
	out := make(map[string]entry)
	for _, r := range records {
		data, err := io.ReadAll(io.NewSectionReader(r, 0, int64(r.FileSize)))
		if err != nil {
			return nil
		}
		out[r.Name] = entry{r.Info, sha256.Sum256(data)}
	}
	return out
}
