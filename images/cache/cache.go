package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"weir/images/atomic"
)

// Errors that callers tell apart.
var (
	// ErrMissing: the cache does not have it.
	ErrMissing = errors.New("not in the cache")
	// ErrMismatch: bytes are not what their pin or their name says.
	ErrMismatch = errors.New("wrong hash")
)

// Cache is one cache folder.
type Cache struct {
	dir string
	// Waiting, if not nil, is called once when another process holds the lock.
	Waiting func(holder string)
}

// Default is the folder of the user's cache: $XDG_CACHE_HOME/weir or ~/.cache/weir.
func Default() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: name one with -cache: %w", err)
	}
	return filepath.Join(base, "weir"), nil
}

// Open makes the folder if need be and finds out whether it can be written.
func Open(dir string) (*Cache, error) {
	c := &Cache{dir: dir}
	for _, half := range []string{blobs, derived} {
		if err := os.MkdirAll(filepath.Join(dir, half), 0o755); err != nil {
			return nil, fmt.Errorf("cache folder %s cannot be made: change its permissions, or name another with -cache: %w", dir, err)
		}
		f, err := c.openLock(half)
		if err != nil {
			return nil, err
		}
		f.Close()
	}
	return c, nil
}

// Dir is the cache's folder.
func (c *Cache) Dir() string { return c.dir }

// Path is where the file with this SHA-256 (64 hexadecimal digits) is kept.
func (c *Cache) Path(sum string) string {
	if len(sum) < 2 {
		return filepath.Join(c.dir, blobs, "invalid")
	}
	return filepath.Join(c.dir, blobs, sum[:2], sum)
}

// Get gives the path of the file with this SHA-256, after reading it to see that
// it is so. The error is ErrMissing, or ErrMismatch if what is there was damaged.
func (c *Cache) Get(sum string) (string, error) {
	path := c.Path(sum)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", sum, ErrMissing)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	if got := sumOf(h); got != sum {
		return "", fmt.Errorf("cached file %s has SHA-256 %s and not the one it is pinned by: delete it and run again: %w", path, got, ErrMismatch)
	}
	return path, nil
}

// Ensure is Get, and where the file is missing fetch writes it. Bytes that do
// not hash to sum are refused with ErrMismatch and not kept.
func (c *Cache) Ensure(ctx context.Context, sum string, fetch func(io.Writer) error) (string, error) {
	path, err := c.Get(sum)
	if !errors.Is(err, ErrMissing) {
		return path, err
	}
	release, err := c.lock(ctx, blobs)
	if err != nil {
		return "", err
	}
	defer release()
	// Another process may have brought it while we waited.
	if path, err := c.Get(sum); !errors.Is(err, ErrMissing) {
		return path, err
	}
	path = c.Path(sum)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	if err := atomic.Sweep(filepath.Dir(path)); err != nil {
		return "", err
	}
	err = atomic.Write(path, func(w io.Writer) error {
		h := sha256.New()
		if err := fetch(io.MultiWriter(w, h)); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if got := sumOf(h); got != sum {
			return fmt.Errorf("downloaded bytes have SHA-256 %s, pinned is %s: the source is damaged or was changed, use another mirror: %w", got, sum, ErrMismatch)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return path, nil
}

func sumOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
