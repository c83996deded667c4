package guard

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"weir/init/kmsg"
)

type action int

const (
	none action = iota
	reboot
	powerOff
)

func (a action) String() string {
	return [...]string{"nothing", "reboot", "power-off"}[a]
}

// actionOf is what a signal to process 1 asks for: the meanings of busybox
// init, and SIGPWR of a supply that fails. Kept equal to init/control.
func actionOf(s os.Signal) action {
	switch s {
	case unix.SIGTERM, unix.SIGINT:
		return reboot
	case unix.SIGUSR2, unix.SIGPWR:
		return powerOff
	}
	return none
}

const (
	// terminated is how long processes that nobody supervises have to end.
	terminated = 3 * time.Second
	// synced bounds sync(2): a dead disk must not keep a machine from its reboot.
	synced = 20 * time.Second
)

// end ends the machine in order and does not return. The reason goes to the
// console before anything else.
func (g *guardian) end(a action, reason string) {
	kmsg.Logf(kmsg.Crit, "weir: %v: %s", a, reason)
	g.clear(unix.SIGTERM, terminated)
	done := make(chan struct{})
	go func() { // uses one of the spare threads
		unix.Sync()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(synced):
		kmsg.Errorf("weir: the disks did not take all data within %v", synced)
	}
	cmd := unix.LINUX_REBOOT_CMD_RESTART
	if a == powerOff {
		cmd = unix.LINUX_REBOOT_CMD_POWER_OFF
	}
	for {
		// Returns only if it failed.
		err := unix.Reboot(cmd)
		kmsg.Logf(kmsg.Crit, "weir: %v failed: %v; trying again", a, err)
		time.Sleep(5 * time.Second)
	}
}
