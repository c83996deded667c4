package atomic

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// full is a disk that takes n bytes.
type full struct {
	*os.File
	n int
}

func (f *full) Write(p []byte) (int, error) {
	if len(p) <= f.n {
		f.n -= len(p)
		return f.File.Write(p)
	}
	n, _ := f.File.Write(p[:f.n])
	f.n = 0
	return n, &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
}

// syncFails is a disk that says so late.
type syncFails struct{ *os.File }

func (f syncFails) Sync() error {
	return &os.PathError{Op: "sync", Path: f.Name(), Err: syscall.ENOSPC}
}

func on(t *testing.T, wrap func(*os.File) file) {
	old := create
	create = func(dir, pattern string) (file, error) {
		f, err := os.CreateTemp(dir, pattern)
		if err != nil {
			return nil, err
		}
		return wrap(f), nil
	}
	t.Cleanup(func() { create = old })
}

func TestFullDiskLeavesTheOldFile(t *testing.T) {
	for name, wrap := range map[string]func(*os.File) file{
		"while writing": func(f *os.File) file { return &full{f, 3} },
		"at sync":       func(f *os.File) file { return syncFails{f} },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "image")
			if err := WriteBytes(path, []byte("old")); err != nil {
				t.Fatal(err)
			}
			on(t, wrap)
			err := WriteBytes(path, []byte("new and longer"))
			if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "no space left in "+dir+": free some") {
				t.Errorf("error %v", err)
			}
			want(t, dir, map[string]string{"image": "old"})
		})
	}
}

func TestFailedFillLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	broken := errors.New("the source broke off")
	err := Write(filepath.Join(dir, "image"), func(w io.Writer) error {
		io.WriteString(w, "half")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	want(t, dir, nil)
}

func TestNameIsFreeUntilTheFileIsWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "image")
	err := Write(path, func(w io.Writer) error {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the name exists before the bytes do: %v", err)
		}
		_, err := io.WriteString(w, "whole")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want(t, dir, map[string]string{"image": "whole"})
	fi, err := os.Stat(path)
	if err != nil || fi.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
}

func TestMissingFolderIsNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	err := WriteBytes(filepath.Join(dir, "image"), nil)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v", err)
	}
}

func TestSweepTakesOnlyTheLeftOvers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"keep", "image" + tempMark + "123"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Sweep(dir); err != nil {
		t.Fatal(err)
	}
	want(t, dir, map[string]string{"keep": "keep"})
}

// want holds dir to exactly these files.
func want(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := files[e.Name()]; !ok {
			t.Errorf("%s is left over", e.Name())
		}
	}
	for name, text := range files {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(b) != text {
			t.Errorf("%s holds %q, %v; want %q", name, b, err, text)
		}
	}
}
