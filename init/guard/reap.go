package guard

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// reap waits for every child that has ended, without blocking. It returns the
// status of the child pid if that was among them, and whether any child, alive
// or not, is left.
func reap(pid int) (status syscall.WaitStatus, ended, left bool) {
	for {
		var ws syscall.WaitStatus
		switch got, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil); {
		case err == syscall.EINTR:
		case err != nil: // ECHILD
			return status, ended, false
		case got == 0:
			return status, ended, true
		case got == pid:
			status, ended = ws, true
		}
	}
}

// clear sends the signal to every other process, if there is a graceful one,
// waits so long for them to end, then kills what is left and reaps it.
func (g *guardian) clear(sig unix.Signal, wait time.Duration) {
	if sig != 0 && !g.sweep(sig, wait) {
		return
	}
	g.sweep(unix.SIGKILL, killed)
}

// killed is how long SIGKILL may take. Longer only for a process that hangs in
// the kernel, for which it is no use to wait.
const killed = 2 * time.Second

// sweep signals every process but this one and reaps until none is left or the
// time is up; it tells whether any is.
func (g *guardian) sweep(sig unix.Signal, wait time.Duration) (left bool) {
	deadline := time.After(wait)
	// From process 1, -1 is every process of its namespace except itself.
	if err := unix.Kill(-1, sig); err == unix.ESRCH {
		_, _, left = reap(0)
		return left
	}
	for {
		if _, _, left := reap(0); !left {
			return false
		}
		select {
		case <-g.children:
		case <-deadline:
			return true
		}
	}
}

// words says how a process ended.
func words(ws syscall.WaitStatus) string {
	switch {
	case ws.Signaled():
		return fmt.Sprintf("killed by the signal %v", ws.Signal())
	case ws.ExitStatus() == 2:
		return "exit status 2, a panic or a fatal error of the Go runtime"
	}
	return fmt.Sprintf("exit status %d", ws.ExitStatus())
}
