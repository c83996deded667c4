package mount

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"weir/internal/testenv"
)

// privately moves the test into a mount namespace of its own, with a thread
// that ends with the test.
func privately(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // never unlocked: the thread must not serve others
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		testenv.Missing(t, "no new mount namespace (%v): run as root", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
}

// memory is what can be mounted anywhere without side effects.
var memory = []FS{
	{Type: "tmpfs", Target: "/run", Data: "mode=0755,size=10%", Magic: unix.TMPFS_MAGIC},
	{Type: "tmpfs", Target: "/run/deep/er", Data: "mode=1777", Magic: unix.TMPFS_MAGIC},
}

func TestDoAndDoAgain(t *testing.T) {
	privately(t)
	root := t.TempDir()
	t.Cleanup(func() {
		_ = unix.Unmount(filepath.Join(root, "/run/deep/er"), 0)
		_ = unix.Unmount(filepath.Join(root, "/run"), 0)
	})
	if err := Do(root, memory); err != nil {
		t.Fatal(err)
	}
	for _, fs := range memory {
		if !Mounted(filepath.Join(root, fs.Target), fs.Magic) {
			t.Errorf("%s is not mounted", fs.Target)
		}
	}
	mark := filepath.Join(root, "run", "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Do(root, memory); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("the second time hid the first: %v", err)
	}
}

func TestFailureStopsNothing(t *testing.T) {
	privately(t)
	root := t.TempDir()
	t.Cleanup(func() { _ = unix.Unmount(filepath.Join(root, "b"), 0) })
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := Do(root, []FS{
		{Type: "tmpfs", Target: "/file/a", Magic: unix.TMPFS_MAGIC},
		{Type: "nosuchfs", Target: "/none", Magic: 1},
		{Type: "nosuchfs", Target: "/optional", Magic: 1, Optional: true},
		{Type: "tmpfs", Target: "/b", Magic: unix.TMPFS_MAGIC},
	})
	if !errors.Is(err, unix.ENOTDIR) || !errors.Is(err, unix.ENODEV) || strings.Contains(err.Error(), "optional") {
		t.Errorf("%v", err)
	}
	if !Mounted(filepath.Join(root, "b"), unix.TMPFS_MAGIC) {
		t.Error("what came after a failure was not mounted")
	}
}

func TestMountedIsNotFooledByAnOrdinaryFolder(t *testing.T) {
	dir := t.TempDir()
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	if Mounted(dir, int64(fs.Type)) {
		t.Error("a folder inside a file system counts as mounted")
	}
	if !Mounted("/proc", unix.PROC_SUPER_MAGIC) || Mounted("/proc", unix.SYSFS_MAGIC) || Mounted("/no/such", unix.PROC_SUPER_MAGIC) {
		t.Error("/proc")
	}
}

func TestLink(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "dev"), 0o755); err != nil {
		t.Fatal(err)
	}
	// devtmpfs makes /dev/ptmx as a node of the first devpts instance.
	if err := os.WriteFile(filepath.Join(root, "dev/ptmx"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Link(root, Links); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range Links {
		if got, err := os.Readlink(filepath.Join(root, name)); got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// What bounds the memory that files can take must be said for each tmpfs.
func TestEveryTmpfsHasASize(t *testing.T) {
	for _, fs := range All {
		if fs.Type == "tmpfs" && !strings.Contains(fs.Data, "size=") {
			t.Errorf("%s has no size", fs.Target)
		}
	}
}
