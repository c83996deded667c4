// Package clock keeps the time of day plausible at boot, and reads the clock
// that the boot is measured with.
//
// Boards without a battery start in 1970, which breaks certificates and log
// files. The time of the build is the least the present can be. The clock is
// only ever moved forward, and everything that measures durations uses the
// monotonic clocks, which no step moves. Standard library and x/sys/unix.
package clock
