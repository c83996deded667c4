package main

import (
	"fmt"
	"os"
	"path/filepath"

	"weir/init/guard"
)

// workerName is argv[0] of the worker.
const workerName = "weir-init"

func main() {
	switch {
	case os.Getpid() == 1:
		guard.Run(self(), []string{workerName})
	case filepath.Base(os.Args[0]) == "modprobe":
		os.Exit(modprobe(os.Args[1:]))
	case os.Args[0] == workerName && os.Getppid() == 1:
		os.Exit(work())
	}
	if status, ok := faultCommand(os.Args[1:]); ok {
		os.Exit(status)
	}
	fmt.Fprintln(os.Stderr, "init: this is process 1 of a Weir machine: use `weir reboot`, `weir poweroff` or `weir status`")
	os.Exit(2)
}

// self is where the kernel found this program: /proc is not mounted yet.
func self() string {
	if filepath.IsAbs(os.Args[0]) {
		return os.Args[0]
	}
	return "/init"
}
