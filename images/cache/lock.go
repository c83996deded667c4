package cache

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pollEvery is how often a waiting process asks for the lock: flock cannot be
// waited for together with a context.
const pollEvery = 100 * time.Millisecond

// The two halves of the cache. Each has a lock of its own, so that a download
// does not wait for somebody's compiler.
const (
	blobs   = "sha256"
	derived = "derived"
)

// lock makes this the one process that adds to a half of the cache, waiting for
// the present one. The kernel gives the lock back when a process dies.
func (c *Cache) lock(ctx context.Context, half string) (release func(), err error) {
	f, err := c.openLock(half)
	if err != nil {
		return nil, err
	}
	told := false
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if err != unix.EWOULDBLOCK && err != unix.EINTR {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		if !told && c.Waiting != nil {
			told = true
			c.Waiting(holder(f.Name()))
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(pollEvery):
		}
	}
	// Only for the message of whoever waits: the lock itself is the kernel's.
	if err := f.Truncate(0); err == nil {
		fmt.Fprintf(f, "process %d\n", os.Getpid())
	}
	return func() { f.Close() }, nil
}

func (c *Cache) openLock(half string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(c.dir, half+".lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cache folder %s cannot be written: change its permissions, or name another with -cache: %w", c.dir, err)
	}
	return f, nil
}

func holder(path string) string {
	b, err := os.ReadFile(path)
	if s := strings.TrimSpace(string(b)); err == nil && s != "" {
		return s
	}
	return "another process"
}
