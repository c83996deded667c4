package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

const netnsDir = "/run/netns"

var netnsName = regexp.MustCompile(`^weir-(\d+)-[a-z]+$`)

// onThread runs f on a thread of its own that ends afterwards, so whatever f
// does to the thread's namespaces stays there.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		done <- f()
	}()
	return <-done
}

// inNamespace runs f on a thread that is in the named network namespace.
func inNamespace(name string, f func() error) error {
	return onThread(func() error {
		ns, err := os.Open(filepath.Join(netnsDir, name))
		if err != nil {
			return fmt.Errorf("network namespace: %w", err)
		}
		defer ns.Close()
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter network namespace %s: %w", name, err)
		}
		return f()
	})
}

// addNamespace makes one that `ip netns` knows. (`ip netns add` itself cannot do
// it in a user namespace: it wants to go back to the first network namespace.)
func addNamespace(name string) error {
	if err := os.MkdirAll(netnsDir, 0o755); err != nil {
		return fmt.Errorf("folder of the network namespaces: %w", err)
	}
	// As ip-netns does: a removal must reach the copies of this folder in other
	// mount namespaces, so it has to be a shared mount of its own.
	if err := unix.Mount("", netnsDir, "", unix.MS_SHARED|unix.MS_REC, ""); errors.Is(err, unix.EINVAL) {
		if err := unix.Mount(netnsDir, netnsDir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("bind %s: %w", netnsDir, err)
		}
		if err := unix.Mount("", netnsDir, "", unix.MS_SHARED|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("share %s: %w", netnsDir, err)
		}
	} else if err != nil {
		return fmt.Errorf("share %s: %w", netnsDir, err)
	}
	p := filepath.Join(netnsDir, name)
	f, err := os.OpenFile(p, os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return fmt.Errorf("name a network namespace: %w", err)
	}
	f.Close()
	err = onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		return unix.Mount("/proc/thread-self/ns/net", p, "", unix.MS_BIND, "")
	})
	if err != nil {
		os.Remove(p)
		return fmt.Errorf("make network namespace %s: %w", name, err)
	}
	return nil
}

func deleteNamespace(name string) error {
	p := filepath.Join(netnsDir, name)
	// EINVAL: a name that was never mounted on, left by a start that was killed.
	if err := unix.Unmount(p, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("remove network namespace %s: %w", name, err)
	}
	return os.Remove(p)
}

// sweep removes the namespaces of labs whose process is gone.
func sweep() error {
	entries, err := os.ReadDir(netnsDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var errs []error
	for _, e := range entries {
		m := netnsName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		if pid, err := strconv.Atoi(m[1]); err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			errs = append(errs, deleteNamespace(e.Name()))
		}
	}
	return errors.Join(append(errs, err)...)
}

// start runs cmd with its process born in the named namespace. Wait's result
// comes from the channel. The process is killed when ctx ends or when this
// process dies.
func start(ctx context.Context, name string, cmd *exec.Cmd) (<-chan error, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		// The child inherits the namespace of the thread that forks, and gets its
		// parent-death signal when that thread ends: so the thread stays.
		began := false
		err := inNamespace(name, func() error {
			if err := cmd.Start(); err != nil {
				return err
			}
			began = true
			started <- nil
			stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
			defer stop()
			return cmd.Wait()
		})
		if !began {
			started <- err
		}
		ended <- err
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s in %s: %w", cmd.Path, name, err)
	}
	return ended, nil
}
