package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func open(t *testing.T) *Cache {
	t.Helper()
	c, err := Open(filepath.Join(t.TempDir(), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func sha(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func writes(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// files is every file of the cache but the locks.
func files(t *testing.T, c *Cache) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(c.dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(p) != ".lock" {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEnsureFetchesOnce(t *testing.T) {
	c := open(t)
	n := 0
	for range 2 {
		path, err := c.Ensure(t.Context(), sha("hello"), func(w io.Writer) error {
			n++
			return writes("hello")(w)
		})
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "hello" {
			t.Errorf("%q, %v", b, err)
		}
	}
	if n != 1 {
		t.Errorf("fetched %d times", n)
	}
}

func TestNothingIsKeptOf(t *testing.T) {
	broken := errors.New("line went dead")
	cases := []struct {
		name  string
		fetch func(context.CancelFunc) func(io.Writer) error
		want  error
	}{
		{"the wrong bytes", func(context.CancelFunc) func(io.Writer) error { return writes("hullo") }, ErrMismatch},
		{"a broken download", func(context.CancelFunc) func(io.Writer) error {
			return func(w io.Writer) error { writes("hel")(w); return broken }
		}, broken},
		{"a full disk", func(context.CancelFunc) func(io.Writer) error {
			return func(w io.Writer) error { return syscall.ENOSPC }
		}, syscall.ENOSPC},
		{"an interrupt", func(stop context.CancelFunc) func(io.Writer) error {
			return func(w io.Writer) error { writes("hello")(w); stop(); return nil }
		}, context.Canceled},
	}
	for _, what := range cases {
		t.Run(what.name, func(t *testing.T) {
			c := open(t)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if _, err := c.Ensure(ctx, sha("hello"), what.fetch(stop)); !errors.Is(err, what.want) {
				t.Errorf("Ensure: %v, want %v", err, what.want)
			}
			if what.want != ErrMismatch { // a derived result has no hash to miss
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				if _, err := c.Derive(ctx, []string{"x"}, what.fetch(stop)); !errors.Is(err, what.want) {
					t.Errorf("Derive: %v, want %v", err, what.want)
				}
			}
			if left := files(t, c); len(left) != 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestWrongHashSaysBoth(t *testing.T) {
	_, err := open(t).Ensure(t.Context(), sha("hello"), writes("hullo"))
	for _, want := range []string{sha("hello"), sha("hullo"), "use another mirror"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// A file that rotted in the cache is not used, and not replaced in silence.
func TestDamagedFileIsNamed(t *testing.T) {
	c := open(t)
	path, err := c.Ensure(t.Context(), sha("hello"), writes("hello"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("hellx"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = c.Ensure(t.Context(), sha("hello"), writes("hello"))
	if !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), path+" has SHA-256 ") || !strings.Contains(err.Error(), "delete it and run again") {
		t.Errorf("error %v", err)
	}
}

// What a killed process left behind is gone after the next write.
func TestLeftOversAreSwept(t *testing.T) {
	c := open(t)
	dir := filepath.Dir(c.Path(sha("hello")))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, sha("hello")+".weir-partial-1"), []byte("hel"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ensure(t.Context(), sha("hello"), writes("hello")); err != nil {
		t.Fatal(err)
	}
	if got := files(t, c); len(got) != 1 || got[0] != c.Path(sha("hello")) {
		t.Errorf("files %q", got)
	}
}

func read(t *testing.T, d *Derived) string {
	t.Helper()
	defer d.Close()
	b, err := io.ReadAll(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDeriveByInputs(t *testing.T) {
	c := open(t)
	n := 0
	get := func(inputs ...string) string {
		d, err := c.Derive(t.Context(), inputs, func(w io.Writer) error {
			n++
			return writes(strings.Join(inputs, "+"))(w)
		})
		if err != nil {
			t.Fatal(err)
		}
		return read(t, d)
	}
	for _, in := range [][]string{{"a", "b"}, {"a", "b"}, {"ab"}, {"a", "b", ""}} {
		if got, want := get(in...), strings.Join(in, "+"); got != want {
			t.Errorf("%q gives %q", in, got)
		}
	}
	if n != 3 {
		t.Errorf("made %d times, want 3: the second is the first", n)
	}
}

// Whatever a crash or a bad disk did to a result, it is made again.
func TestDamagedResultIsMadeAgain(t *testing.T) {
	c := open(t)
	path := filepath.Join(c.dir, "derived", key([]string{"a"}))
	for name, damage := range map[string]func([]byte) []byte{
		"whole":    func(b []byte) []byte { return b },
		"one bit":  func(b []byte) []byte { b[0] ^= 1; return b },
		"cut":      func(b []byte) []byte { return b[:len(b)-1] },
		"very cut": func(b []byte) []byte { return b[:3] },
		"empty":    func(b []byte) []byte { return nil },
	} {
		d, err := c.Derive(t.Context(), []string{"a"}, writes("result"))
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, d); got != "result" {
			t.Errorf("before %s: %q", name, got)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, damage(b), 0o644); err != nil {
			t.Fatal(err)
		}
		d, err = c.Derive(t.Context(), []string{"a"}, writes("result"))
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, d); got != "result" {
			t.Errorf("after %s: %q", name, got)
		}
	}
}

// The second run waits for the first, says for whom, and then finds its file.
func TestSecondRunWaits(t *testing.T) {
	first := open(t)
	second, err := Open(first.dir)
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan string, 1)
	second.Waiting = func(h string) { waiting <- h }
	started, goOn := make(chan struct{}), make(chan struct{})
	var fetched atomic.Int32
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := first.Ensure(t.Context(), sha("hello"), func(w io.Writer) error {
			fetched.Add(1)
			close(started)
			<-goOn
			return writes("hello")(w)
		}); err != nil {
			t.Error(err)
		}
	})
	<-started
	wg.Go(func() {
		if _, err := second.Ensure(t.Context(), sha("hello"), func(w io.Writer) error {
			fetched.Add(1)
			return writes("hello")(w)
		}); err != nil {
			t.Error(err)
		}
	})
	if h := <-waiting; !strings.HasPrefix(h, "process ") {
		t.Errorf("waiting for %q", h)
	}
	close(goOn)
	wg.Wait()
	if n := fetched.Load(); n != 1 {
		t.Errorf("fetched %d times", n)
	}
}

// A download does not wait for a compiler.
func TestHalvesDoNotWaitForEachOther(t *testing.T) {
	c := open(t)
	_, err := c.Derive(t.Context(), []string{"slow"}, func(w io.Writer) error {
		_, err := c.Ensure(t.Context(), sha("hello"), writes("hello"))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	c := open(t)
	release, err := c.lock(t.Context(), blobs)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	if _, err := c.Ensure(ctx, sha("x"), writes("x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestCacheThatCannotBeWritten(t *testing.T) {
	// A file in the way: root may write in any folder, but not below a file.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(file, "cache")
	_, err := Open(dir)
	if err == nil || !strings.Contains(err.Error(), "cache folder "+dir+" cannot be made: change its permissions, or name another with -cache") {
		t.Errorf("error %v", err)
	}
	// And one whose folders exist.
	c := open(t)
	if err := os.Remove(filepath.Join(c.dir, "derived.lock")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(c.dir, "derived.lock"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(c.dir); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("error %v", err)
	}
}
