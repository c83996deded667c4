package clock

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// SinceBoot is CLOCK_BOOTTIME: the time since the kernel started.
func SinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// Built is the least the present can be: the later of the time of the file,
// which the image builder sets to that of the sources, and the time in the
// kernel's version (uname -v), which is there without a builder's help.
func Built(file, kernelVersion string) (time.Time, error) {
	kernel := kernelTime(kernelVersion)
	fi, err := os.Stat(file)
	if err != nil {
		return kernel, fmt.Errorf("find the time of the build: %w", err)
	}
	if t := fi.ModTime(); t.After(kernel) {
		return t, nil
	}
	return kernel, nil
}

// kernelTime finds the date in a kernel's version: Debian's is
// "#1 SMP Debian 6.12.117-1 (2026-11-20)", where scripts/mkcompile_h writes
// "#1 SMP PREEMPT Fri Nov 20 10:00:00 UTC 2026". The zero time if there is none.
func kernelTime(version string) time.Time {
	if _, date, ok := strings.Cut(version, "("); ok {
		if t, err := time.Parse(time.DateOnly, strings.TrimRight(date, ") ")); err == nil {
			return t
		}
	}
	words := strings.Fields(version)
	if n := len(words); n >= 6 {
		if t, err := time.Parse("Mon Jan 2 15:04:05 MST 2006", strings.Join(words[n-6:], " ")); err == nil {
			return t
		}
	}
	return time.Time{}
}

// AtLeast moves the clock to floor if it is behind, with set. It tells whether
// it did. A clock that is ahead, however far, stays: only a time server can
// judge it.
func AtLeast(now, floor time.Time, set func(time.Time) error) (moved bool, err error) {
	if !now.Before(floor) {
		return false, nil
	}
	if err := set(floor); err != nil {
		return false, fmt.Errorf("set the clock from %s to %s: %w", now.UTC().Format(time.DateTime), floor.UTC().Format(time.DateTime), err)
	}
	return true, nil
}

// Set sets the kernel's clock.
func Set(t time.Time) error {
	ts, err := unix.TimeToTimespec(t)
	if err != nil {
		return err
	}
	return unix.ClockSettime(unix.CLOCK_REALTIME, &ts)
}
