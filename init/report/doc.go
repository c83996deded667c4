// Package report is what PID 1 tells about the boot: its steps with their times
// and faults, and the ports as they came up. PID 1 writes it to Path, whole and
// atomically, after every step; `weir status` and the lab read it.
package report
