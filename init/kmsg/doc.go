// Package kmsg is how PID 1 speaks: records in the kernel's log, which the
// kernel prints on its console and keeps for dmesg.
//
// The kernel prints by itself, so a terminal that is stopped (Ctrl-S, a serial
// line without a reader) never blocks PID 1, which a write to /dev/console can.
// Before /dev is mounted the text goes to standard error instead.
//
// All functions may be called concurrently and never fail: what cannot be said
// is lost. Imports the standard library and x/sys/unix; nothing that PID 1
// could wait for belongs here.
package kmsg
