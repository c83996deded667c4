package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"weir/images/atomic"
)

// Derived is an open result of a slow step.
type Derived struct {
	*io.SectionReader
	f *os.File
}

// Close releases the file; readers made from it end with it.
func (d *Derived) Close() error { return d.f.Close() }

// Derive gives the bytes that make writes, from the cache if they were made
// before. inputs are everything that the bytes depend on, the step's own name
// and version included: the key is their hash. A damaged result is made anew.
func (c *Cache) Derive(ctx context.Context, inputs []string, make func(io.Writer) error) (*Derived, error) {
	path := filepath.Join(c.dir, derived, key(inputs))
	if d, err := openDerived(path); err == nil {
		return d, nil
	}
	release, err := c.lock(ctx, derived)
	if err != nil {
		return nil, err
	}
	defer release()
	if d, err := openDerived(path); err == nil {
		return d, nil
	}
	if err := atomic.Sweep(filepath.Dir(path)); err != nil {
		return nil, err
	}
	err = atomic.Write(path, func(w io.Writer) error {
		h := sha256.New()
		if err := make(io.MultiWriter(w, h)); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := w.Write(h.Sum(nil))
		return err
	})
	if err != nil {
		return nil, err
	}
	return openDerived(path)
}

// openDerived opens a result whose last 32 bytes are the hash of those before.
func openDerived(path string) (_ *Derived, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	n := fi.Size() - sha256.Size
	if n < 0 {
		return nil, fmt.Errorf("%s is too short", path)
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, n)); err != nil {
		return nil, err
	}
	want := make([]byte, sha256.Size)
	if _, err := f.ReadAt(want, n); err != nil {
		return nil, err
	}
	if !bytes.Equal(h.Sum(nil), want) {
		return nil, errors.New(path + " is damaged")
	}
	return &Derived{io.NewSectionReader(f, 0, n), f}, nil
}

// key hashes the inputs with their lengths, so that no two lists share a key.
func key(inputs []string) string {
	h := sha256.New()
	for _, s := range inputs {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}
