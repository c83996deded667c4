package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"weir/init/clock"
	"weir/init/cmdline"
	"weir/init/kmsg"
	"weir/init/mount"
)

func mounts(context.Context) error {
	return errors.Join(mount.Do("/", mount.All), mount.Link("/", mount.Links), makeDirs("/etc", "/root", runDir, "/sbin"))
}

func makeDirs(dirs ...string) error {
	var errs []error
	for _, d := range dirs {
		errs = append(errs, os.MkdirAll(d, 0o755))
	}
	return errors.Join(errs...)
}

// crashFile gets what the worker prints when it dies.
const crashFile = runDir + "/init.crash"

// keepOutput sends the worker's own standard output and error to a file: the
// trace of a panic must not wait for a terminal that is stopped. What an
// earlier worker left there is shown first.
func keepOutput(context.Context) error {
	if old, err := os.ReadFile(crashFile); err == nil && len(old) > 0 {
		kmsg.Errorf("weir: the last words of the earlier worker, all of them in %s.old:\n%s", crashFile, head(old, 4000))
		_ = os.Rename(crashFile, crashFile+".old")
	}
	f, err := os.OpenFile(crashFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("keep the last words of init: %w", err)
	}
	defer f.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	return errors.Join(unix.Dup3(int(null.Fd()), 0, 0), unix.Dup3(int(f.Fd()), 1, 0), unix.Dup3(int(f.Fd()), 2, 0))
}

func head(b []byte, n int) []byte { return b[:min(n, len(b))] }

// settings are what the kernel must be told, in order.
var settings = []struct{ path, value, why string }{
	{"/proc/sys/kernel/printk_devkmsg", "on\n", "our messages are few and must not be dropped by the rate limit"},
	{"/proc/sys/kernel/panic_on_oops", "1", "a kernel that went wrong is not trusted with packets"},
	{"/proc/sys/net/core/bpf_jit_enable", "1", "32-bit kernels start with the interpreter; before any program is loaded"},
	{"/proc/sys/kernel/modprobe", modprobePath, "the kernel asks for modules by name"},
	{"/sys/fs/cgroup/cgroup.subtree_control", "+pids", "services get a limit of processes"},
	// Process 1 is exempt already; of the others the worker is the last but one.
	{"/proc/self/oom_score_adj", "-999", "init is killed for memory after everything else"},
}

func kernelSettings(context.Context) error {
	errs := []error{panicReboots()}
	for _, s := range settings {
		if err := os.WriteFile(s.path, []byte(s.value), 0); err != nil {
			errs = append(errs, fmt.Errorf("write %q to %s (%s): %w", s.value, s.path, s.why, err))
		}
	}
	if err := os.Symlink("/init", modprobePath); err != nil && !errors.Is(err, os.ErrExist) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// panicReboots makes a kernel that panics reboot, where `panic=` on its command
// line says nothing else: without a word it would stand still for ever.
func panicReboots() error {
	const path = "/proc/sys/kernel/panic"
	b, err := os.ReadFile(path)
	if err != nil || strings.TrimSpace(string(b)) != "0" {
		return err
	}
	return os.WriteFile(path, []byte("10"), 0)
}

func commandLine(context.Context) (cmdline.Line, error) {
	b, err := os.ReadFile("/proc/cmdline")
	return cmdline.Parse(string(b)), err
}

// setClock runs after the modules: a clock chip's driver sets the time when it
// comes.
func setClock(context.Context) error {
	built, berr := clock.Built("/init", uname().version)
	now := time.Now()
	moved, err := clock.AtLeast(now, built, clock.Set)
	if moved {
		kmsg.Infof("weir: the clock stood at %s: set to the time of the build, %s", now.UTC().Format(time.DateTime), built.UTC().Format(time.DateTime))
	}
	return errors.Join(berr, err)
}

func loopbackUp(context.Context) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bring lo up: %w", err)
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, ifr); err != nil {
		return fmt.Errorf("read the flags of lo: %w", err)
	}
	ifr.SetUint16(ifr.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr); err != nil {
		return fmt.Errorf("bring lo up: %w", err)
	}
	return nil
}

func exists(path ...string) bool {
	_, err := os.Stat(filepath.Join(path...))
	return err == nil
}
