package traffic

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// stay returns a Do for the network namespace of the calling thread.
func stay(t *testing.T) func(func() error) error {
	ns, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ns.Close() })
	return func(f func() error) error {
		end := make(chan error, 1)
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
				end <- err
				return
			}
			end <- f()
		}()
		return <-end
	}
}
