package clock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func at(s string) time.Time {
	t, err := time.Parse(time.DateTime, s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestNeverBackwards(t *testing.T) {
	built := at("2026-11-01 12:00:00")
	for _, c := range []struct {
		name, now string
		moves     bool
	}{
		{"no battery", "1970-01-01 00:00:03", true},
		{"stale chip", "2024-05-05 05:05:05", true},
		{"good chip", "2026-12-24 18:00:00", false},
		{"the very second", "2026-11-01 12:00:00", false},
		{"far future", "2099-01-01 00:00:00", false},
	} {
		clock := at(c.now)
		moved, err := AtLeast(clock, built, func(to time.Time) error { clock = to; return nil })
		if err != nil || moved != c.moves || clock.Before(at(c.now)) || clock.Before(built) {
			t.Errorf("%s: moved %v to %v, %v", c.name, moved, clock, err)
		}
	}
}

func TestClockThatCannotBeSetIsSaid(t *testing.T) {
	broken := errors.New("broken")
	moved, err := AtLeast(at("1970-01-01 00:00:00"), at("2026-11-01 12:00:00"), func(time.Time) error { return broken })
	if moved || !errors.Is(err, broken) {
		t.Errorf("%v, %v", moved, err)
	}
}

func TestBuiltIsTheLaterOfFileAndKernel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "init")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mtime := at("2026-11-01 12:00:00")
	if err := os.Chtimes(file, mtime, mtime); err != nil {
		t.Fatal(err)
	}
	for kernel, want := range map[string]time.Time{
		"#1 SMP Debian 6.12.117-1 (2026-11-20)":         at("2026-11-20 00:00:00"),
		"#1 SMP Debian 6.12.57-1 (2025-11-05)":          mtime,
		"#2 SMP PREEMPT Fri Dec  4 10:20:30 UTC 2026":   at("2026-12-04 10:20:30"),
		"#1 SMP Debian 6.12.117-1 (today) no date here": mtime,
		"": mtime,
	} {
		if got, err := Built(file, kernel); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", kernel, got, err, want)
		}
	}
	got, err := Built(file+".not", "#1 SMP Debian 6.12.117-1 (2026-11-20)")
	if !errors.Is(err, os.ErrNotExist) || !got.Equal(at("2026-11-20 00:00:00")) {
		t.Errorf("without the file: %v, %v", got, err)
	}
}

func TestSinceBootGrows(t *testing.T) {
	a := SinceBoot()
	if b := SinceBoot(); a <= 0 || b < a {
		t.Errorf("%v then %v", a, b)
	}
}
