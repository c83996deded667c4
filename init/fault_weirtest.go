//go:build weirtest

package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"weir/init/control"
	"weir/init/supervise"
)

// This file is in no image that a user has. In a guest, `/init fault NAME` asks
// the running init for a fault, or is one:
//
//	panic    a goroutine of the worker panics
//	nil      a goroutine of the worker dereferences nil
//	map      two goroutines of the worker write one map: fatal, cannot be caught
//	step     a step of the boot panics
//	hang     a step of the boot never ends
//	service  a supervised service whose goroutine panics, again and again
//	killall  kill -9 -1: SIGKILL to every process but the sender and process 1
//	memory   takes memory until it is killed
//	forks    takes processes until there are none, holds them, lets them go

func (b *boot) injectFault(verb string) error {
	switch verb {
	case "panic":
		go func() { panic("injected") }()
	case "nil":
		go func() { var p *boot; p.deaths = 1 }()
	case "map":
		m := map[int]int{}
		for range 4 {
			go func() {
				for i := 0; ; i++ {
					m[i%100] = i
				}
			}()
		}
	case "step":
		b.step("fault", time.Second, func(context.Context) error { panic("injected") })
	case "hang":
		b.step("fault", time.Second, func(context.Context) error { select {} })
	case "service":
		_, err := b.super.Start(supervise.Service{Name: "faulty", Argv: []string{"/init", "fault", "panics"}})
		return err
	default:
		return fmt.Errorf("unknown verb %q", verb)
	}
	return nil
}

func faultCommand(args []string) (status int, ok bool) {
	if len(args) != 2 || args[0] != "fault" {
		return 0, false
	}
	switch args[1] {
	case "panics":
		go func() { panic("in a goroutine of a service") }()
		time.Sleep(time.Minute)
	case "killall":
		_ = unix.Kill(-1, unix.SIGKILL)
	case "memory":
		takeMemory()
	case "forks":
		takeProcesses()
	default:
		if err := control.Ask(args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1, true
		}
	}
	return 0, true
}

// takeMemory has the kernel fill the pages itself, which spares emulation a
// trap for each.
func takeMemory() {
	const piece = 16 << 20
	for {
		_, err := unix.Mmap(-1, 0, piece, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANONYMOUS|unix.MAP_PRIVATE|unix.MAP_POPULATE)
		if err != nil {
			fmt.Fprintln(os.Stderr, "no more memory:", err)
			time.Sleep(time.Second)
		}
	}
}

// takeProcesses forks children that only wait, until the kernel refuses or, in
// slow emulation, there are many.
func takeProcesses() {
	runtime.LockOSThread() // the children die with the thread that forked them
	var pids []int
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		pid := forkPause()
		if pid <= 0 {
			break
		}
		pids = append(pids, pid)
	}
	fmt.Println("processes:", len(pids))
	time.Sleep(5 * time.Second)
	for _, p := range pids {
		_ = unix.Kill(p, unix.SIGKILL)
		_, _ = unix.Wait4(p, nil, 0, nil)
	}
}

// forkPause forks a child that runs nothing of the Go runtime.
//
//go:norace
//go:noinline
func forkPause() int {
	pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if e != 0 {
		return -1
	}
	if pid == 0 {
		unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
		for {
			unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
		}
	}
	return int(pid)
}
