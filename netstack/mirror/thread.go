package mirror

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// thread runs functions on one operating system thread that stays in the network
// namespace of the thread that made it: /proc/sys/net, /proc/thread-self and BPF
// queries answer for the calling thread's namespace.
type thread struct {
	calls chan func()
}

// newThread is called with the caller's goroutine locked to its thread.
func newThread() (*thread, error) {
	ns, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, fmt.Errorf("find the network namespace: %w", err)
	}
	defer ns.Close()
	t := &thread{calls: make(chan func())}
	entered := make(chan error)
	go t.loop(ns, entered)
	if err := <-entered; err != nil {
		return nil, err
	}
	return t, nil
}

// loop never unlocks: where it changed the thread's namespace, the thread must
// end with the goroutine and not return to the pool.
func (t *thread) loop(ns *os.File, entered chan<- error) {
	runtime.LockOSThread()
	err := enter(ns)
	entered <- err
	if err != nil {
		return
	}
	for f := range t.calls {
		f()
	}
}

// enter needs CAP_SYS_ADMIN only if the thread is somewhere else.
func enter(ns *os.File) error {
	var here, there unix.Stat_t
	if err := unix.Stat("/proc/thread-self/ns/net", &here); err != nil {
		return fmt.Errorf("find the network namespace: %w", err)
	}
	if err := unix.Fstat(int(ns.Fd()), &there); err != nil {
		return fmt.Errorf("find the network namespace: %w", err)
	}
	if here.Ino == there.Ino && here.Dev == there.Dev {
		return nil
	}
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the network namespace: %w", err)
	}
	return nil
}

// do runs f and waits for it.
func (t *thread) do(f func()) {
	done := make(chan struct{})
	t.calls <- func() { defer close(done); f() }
	<-done
}

func (t *thread) close() { close(t.calls) }
