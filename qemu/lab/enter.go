package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

const enteredEnv = "WEIR_LAB_USER_NAMESPACE"

// Entered says whether this process runs in the user namespace Enter made.
func Entered() bool { return os.Getenv(enteredEnv) != "" }

// NeedsEnter probes whether this process may make network namespaces itself.
func NeedsEnter() bool {
	if Entered() {
		return false
	}
	err := onThread(func() error { return unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS) })
	return err != nil || os.Geteuid() != 0
}

// Enter runs this program again with the same arguments in a new user and
// mount namespace, as its root, waits for it and returns its exit status. Do
// before it what has to happen as the user that called: package managers, say,
// do not work in there.
func Enter() (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), enteredEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGTERM,
	}
	// The terminal sends Ctrl-C to both; the inner one ends, then so does this.
	signal.Ignore(os.Interrupt)
	runtime.LockOSThread() // for Pdeathsig
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("make a user namespace: %w (run as root, or allow it: "+
			"sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000)", err)
	}
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return max(1, exit.ExitCode()), nil
	}
	return 0, err
}

// privateRun gives the user namespace a /run of its own, where `ip netns` may
// keep its names.
func privateRun() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mount a tmpfs on /run: %w", err)
	}
	return nil
}
