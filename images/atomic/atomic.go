package atomic

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// file is what writing needs of an *os.File; tests put a full disk here.
type file interface {
	io.Writer
	Name() string
	Chmod(os.FileMode) error
	Sync() error
	Close() error
}

var create = func(dir, pattern string) (file, error) { return os.CreateTemp(dir, pattern) }

// tempMark is in the name of every temporary file, for Sweep.
const tempMark = ".weir-partial-"

// Write makes the file path with the bytes that fill writes and mode 0644. When
// fill or the disk fails nothing is left behind and path is as before.
func Write(path string, fill func(io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	f, err := create(dir, filepath.Base(path)+tempMark+"*")
	if err != nil {
		return explain(dir, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = explain(dir, err)
		}
	}()
	if err := fill(f); err != nil {
		return err
	}
	// CreateTemp gives 0600; the cache and the image are for everyone to read,
	// whatever the umask.
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// WriteBytes is Write of bytes at hand.
func WriteBytes(path string, b []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// Sweep removes what interrupted writers left in dir. No writer may be at work.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if strings.Contains(e.Name(), tempMark) {
			errs = append(errs, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// syncDir makes the rename durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// explain adds the remedy to the errors that a user can do something about.
func explain(dir string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("no space left in %s: free some, or name another folder: %w", dir, err)
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("cannot write in %s: change its permissions, or name another folder: %w", dir, err)
	}
	return err
}
