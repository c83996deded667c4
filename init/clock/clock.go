// Package clock keeps the time of day plausible at boot, and reads the clock
// that the boot is measured with.
//
// Boards without a battery start in 1970, which breaks certificates and log
// files. The time of the build is the least the present can be. The clock is
// only ever moved forward, and everything that measures durations uses the
// monotonic clocks, which no step moves. Standard library and x/sys/unix.
package clock

import (
	"fmt"
	"os"
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

// Built is the time of the image: that of the file, which the image builder
// sets to the time of the sources.
func Built(file string) (time.Time, error) {
	fi, err := os.Stat(file)
	if err != nil {
		return time.Time{}, fmt.Errorf("find the time of the build: %w", err)
	}
	return fi.ModTime(), nil
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
