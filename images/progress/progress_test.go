package progress

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// lines runs f with a Reporter that is no terminal.
func lines(f func(*Reporter)) []string {
	var b strings.Builder
	f(New(&b))
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func TestStageIsTwoLinesInALog(t *testing.T) {
	got := lines(func(r *Reporter) {
		s := r.Begin(2000, "fetch %s", "kernel")
		io.WriteString(s, strings.Repeat("x", 1000))
		s.Finish(nil)
		r.Begin(0, "compile").Finish(errors.New("no"))
		r.Warn("mind the %s", "gap")
	})
	want := []string{"fetch kernel ...", "fetch kernel 1.0 kB of 2.0 kB (50 %), ", "compile ...", "compile failed after ", "WARNING: mind the gap"}
	if len(got) != len(want) {
		t.Fatalf("lines %q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("line %d is %q, want %q", i, got[i], want[i])
		}
	}
	if strings.Contains(strings.Join(got, ""), "\x1b") {
		t.Error("escape sequences in a log")
	}
}

// On a terminal nothing of a rewritten line stays beside the next.
func TestTerminalLineIsCleared(t *testing.T) {
	var b strings.Builder
	r := New(&b)
	r.tty = true
	s := r.Begin(0, "compile")
	r.Note("a note")
	s.Done("three parts")
	out := b.String()
	for _, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if !strings.HasPrefix(l, "\r\x1b[K") {
			t.Errorf("%q does not begin by clearing the line", l)
		}
	}
	if !strings.Contains(out, "a note\n") || !strings.HasSuffix(out, ": three parts\n") {
		t.Errorf("output %q", out)
	}
}

func TestNilIsSilent(t *testing.T) {
	var r *Reporter
	r.Note("x")
	s := r.Begin(1, "x")
	if n, err := s.Write([]byte("x")); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	s.Done("")
	r.Begin(0, "x").Fail()
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 12_345: "12 kB", 1_234_567: "1.2 MB", 93_443_312: "93 MB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
