// Package control is how the operator's command speaks to process 1: reboot,
// power off, restart a service.
//
// The server is part of init; requests come over a unix socket that only root
// may open. Where init's worker does not answer, Reboot and PowerOff fall back
// to the signals that process 1 always understands, but only after making sure
// that process 1 is Weir's: the same command runs on workstations.
//
// Client functions may be called concurrently. Standard library and x/sys/unix
// only. Status does not belong here: the boot report and the forwarder tell it.
package control
