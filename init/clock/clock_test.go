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

func TestBuilt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "init")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want := at("2026-11-01 12:00:00")
	if err := os.Chtimes(file, want, want); err != nil {
		t.Fatal(err)
	}
	if got, err := Built(file); err != nil || !got.Equal(want) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Built(file + ".not"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestSinceBootGrows(t *testing.T) {
	a := SinceBoot()
	if b := SinceBoot(); a <= 0 || b < a {
		t.Errorf("%v then %v", a, b)
	}
}
