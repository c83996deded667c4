package mount

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// FS is one file system to mount.
type FS struct {
	Type, Target, Data string
	Flags              uintptr
	// Magic is what statfs(2) reports once it is mounted (linux/magic.h).
	Magic int64
	// Optional file systems may be missing from the kernel.
	Optional bool
}

const hardened = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC

// All lists the file systems in the order in which they can be mounted. The
// sizes bound what a program that writes without end can take: the root of an
// initramfs, /run and /tmp are all memory.
var All = []FS{
	{Type: "proc", Target: "/proc", Flags: hardened, Magic: unix.PROC_SUPER_MAGIC},
	{Type: "sysfs", Target: "/sys", Flags: hardened, Magic: unix.SYSFS_MAGIC},
	{Type: "devtmpfs", Target: "/dev", Data: "mode=0755", Flags: unix.MS_NOSUID, Magic: unix.TMPFS_MAGIC},
	{Type: "devpts", Target: "/dev/pts", Data: "newinstance,ptmxmode=0666,mode=0620,gid=5", Flags: unix.MS_NOSUID | unix.MS_NOEXEC, Magic: unix.DEVPTS_SUPER_MAGIC},
	{Type: "tmpfs", Target: "/dev/shm", Data: "mode=1777,size=10%", Flags: unix.MS_NOSUID | unix.MS_NODEV, Magic: unix.TMPFS_MAGIC},
	{Type: "tmpfs", Target: "/run", Data: "mode=0755,size=15%", Flags: unix.MS_NOSUID | unix.MS_NODEV, Magic: unix.TMPFS_MAGIC},
	{Type: "tmpfs", Target: "/tmp", Data: "mode=1777,size=25%", Flags: unix.MS_NOSUID | unix.MS_NODEV, Magic: unix.TMPFS_MAGIC},
	{Type: "bpf", Target: "/sys/fs/bpf", Data: "mode=0700", Flags: hardened, Magic: unix.BPF_FS_MAGIC},
	{Type: "cgroup2", Target: "/sys/fs/cgroup", Flags: hardened, Magic: unix.CGROUP2_SUPER_MAGIC, Optional: true},
}

// Links are symbolic links below /dev that the kernel does not make.
var Links = map[string]string{
	"/dev/fd":     "/proc/self/fd",
	"/dev/stdin":  "/proc/self/fd/0",
	"/dev/stdout": "/proc/self/fd/1",
	"/dev/stderr": "/proc/self/fd/2",
	"/dev/ptmx":   "pts/ptmx",
}

// Do mounts each of list below root ("/" on a device). It goes on after a
// failure and joins what failed.
func Do(root string, list []FS) error {
	var errs []error
	for _, fs := range list {
		if err := one(root, fs); err != nil {
			if fs.Optional && errors.Is(err, unix.ENODEV) {
				continue
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func one(root string, fs FS) error {
	target := filepath.Join(root, fs.Target)
	if Mounted(target, fs.Magic) {
		return nil
	}
	// Below sysfs the folder is there or the kernel lacks the file system.
	if err := os.MkdirAll(target, 0o755); err != nil {
		if fs.Optional {
			return fmt.Errorf("mount %s: %w", target, unix.ENODEV)
		}
		return fmt.Errorf("make %s to mount %s: %w", target, fs.Type, err)
	}
	err := unix.Mount(fs.Type, target, fs.Type, fs.Flags, fs.Data)
	// EBUSY is the kernel refusing to mount the same instance twice on one place.
	if err != nil && err != unix.EBUSY {
		return fmt.Errorf("mount %s on %s: %w", fs.Type, target, err)
	}
	return nil
}

// Mounted tells whether target is the root of a mounted file system of this
// kind. It needs no /proc. A file system of the same device as its parent (a
// bind mount) counts as not mounted.
func Mounted(target string, magic int64) bool {
	var fs unix.Statfs_t
	if unix.Statfs(target, &fs) != nil || uint32(fs.Type) != uint32(magic) {
		return false
	}
	var here, up unix.Stat_t
	if unix.Stat(target, &here) != nil || unix.Stat(filepath.Join(target, ".."), &up) != nil {
		return false
	}
	return here.Dev != up.Dev
}

// Link makes the symbolic links below root; one that is there stays, except
// that a device node gives way.
func Link(root string, links map[string]string) error {
	var errs []error
	for name, to := range links {
		path := filepath.Join(root, name)
		if fi, err := os.Lstat(path); err == nil {
			if fi.Mode()&os.ModeSymlink != 0 {
				continue
			}
			if err := os.Remove(path); err != nil {
				errs = append(errs, fmt.Errorf("replace %s by a link to %s: %w", path, to, err))
				continue
			}
		}
		if err := os.Symlink(to, path); err != nil {
			errs = append(errs, fmt.Errorf("link: %w", err))
		}
	}
	return errors.Join(errs...)
}
