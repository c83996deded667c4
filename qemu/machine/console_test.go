package machine

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestConsoleWait(t *testing.T) {
	is := func(want string) func(string) bool { return func(l string) bool { return l == want } }
	cases := []struct {
		name, console string
		ended         bool
		err           string // part of it; "" for success
	}{
		{"a line in two pieces", "boot\r\nweir: u", false, ""},
		{"panic", "[ 1.0] Kernel panic - not syncing: no init\n", false, "panicked"},
		{"end", "halting\n", true, "the guest ended; its console ended with:\n    | halting"},
		{"silence", "hello\nhalf a line", false, "silent for 50ms; its console ended with:\n    | hello\n    | half a line"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			con := newConsole()
			con.add([]byte(c.console), c.ended)
			if c.err == "" {
				con.add([]byte("p\n"), false)
			}
			_, err := con.wait(t.Context(), 0, 50*time.Millisecond, is("weir: up"))
			switch {
			case c.err == "" && err != nil:
				t.Error(err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("got %v, want %q in it", err, c.err)
			}
		})
	}
}

// The wait goes on while the guest speaks, and sees what comes later.
func TestConsoleWaitsForLaterLines(t *testing.T) {
	con := newConsole()
	go func() {
		for _, l := range []string{"a\n", "b\n", "c\n"} {
			con.add([]byte(l), false)
		}
	}()
	next, err := con.wait(t.Context(), 0, time.Minute, func(l string) bool { return l == "c" })
	if err != nil || next != 3 {
		t.Errorf("got %d, %v", next, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := con.wait(ctx, next, time.Minute, func(string) bool { return true }); err == nil {
		t.Error("no error after the context's end")
	}
}
