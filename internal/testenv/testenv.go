package testenv

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Missing ends the test: a skip at home, a failure when CI=true.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI has to run this: "+format, args...)
	}
	t.Skipf(format, args...)
}

// Need asks for programs on the PATH.
func Need(t testing.TB, tools ...string) {
	t.Helper()
	for _, n := range tools {
		if _, err := exec.LookPath(n); err != nil {
			Missing(t, "%s is not installed: run scripts/setup", n)
		}
	}
}

// Namespace moves the test's goroutine into a new network namespace, with its
// own thread, and back at the end. Threads made by other goroutines do not
// follow: start child processes from the test's own goroutine.
func Namespace(t testing.TB) {
	t.Helper()
	runtime.LockOSThread()
	old, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		t.Fatal(err)
	}
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		old.Close()
		runtime.UnlockOSThread()
		Missing(t, "no new network namespace (%v): run as root", err)
	}
	t.Cleanup(func() {
		defer old.Close()
		// A thread that cannot go back stays locked, and ends with its goroutine.
		if err := unix.Setns(int(old.Fd()), unix.CLONE_NEWNET); err == nil {
			runtime.UnlockOSThread()
		}
	})
}
