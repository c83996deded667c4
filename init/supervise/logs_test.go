package supervise

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLogFilesAreBoundedAndKeepTheNewest(t *testing.T) {
	dir := t.TempDir()
	l := &Logs{Dir: filepath.Join(dir, "log"), Size: 1000, Console: func(string) {}}
	for i := range 500 {
		l.Line("a", fmt.Sprintf("line %d", i))
	}
	l.Line("b", "other")
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, "log", name))
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 1000 {
			t.Errorf("%s has %d bytes", name, len(b))
		}
		return string(b)
	}
	all := read("a.1") + read("a")
	if !strings.HasSuffix(all, "line 498\nline 499\n") || len(all) < 1000 {
		t.Errorf("%d bytes are left, the end is %q", len(all), all[max(0, len(all)-30):])
	}
	if got := read("b"); got != "other\n" {
		t.Errorf("b has %q", got)
	}
	// A new life goes on in the same file and counts what is there.
	again := &Logs{Dir: filepath.Join(dir, "log"), Size: 1000, Console: func(string) {}}
	for range 300 {
		again.Line("a", "more")
	}
	read("a")
	read("a.1")
}

func TestConsoleIsNotFlooded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown []string
		l := &Logs{Dir: t.TempDir(), Size: 1 << 20, Console: func(s string) { shown = append(shown, s) }}
		for range 1000 {
			l.Line("a", "x")
		}
		if len(shown) != burst {
			t.Fatalf("%d of 1000 lines at once were shown, want %d", len(shown), burst)
		}
		shown = nil
		time.Sleep(10 * time.Second)
		l.Line("a", "y")
		want := fmt.Sprintf("a: %d lines are only in", 1000-burst)
		if len(shown) != 2 || !strings.HasPrefix(shown[0], want) || shown[1] != "a: y" {
			t.Errorf("shown %q", shown)
		}
	})
}
