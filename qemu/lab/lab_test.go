package lab

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"weir/internal/testenv"
)

func need(t *testing.T) {
	if NeedsEnter() {
		testenv.Missing(t, "this user may not make network namespaces: run as root")
	}
}

func TestLabComesAndGoes(t *testing.T) {
	need(t)
	for _, noTap := range []bool{false, true} {
		l, err := New(Config{Queues: 2, NoTap: noTap})
		if err != nil {
			t.Fatal(err)
		}
		if l.Relayed != noTap {
			t.Errorf("NoTap %v: relayed %v: %s", noTap, l.Relayed, l.Why)
		}
		if want := map[bool]int{false: 2, true: 1}[noTap]; l.Queues() != want {
			t.Errorf("NoTap %v: %d queues", noTap, l.Queues())
		}
		for _, h := range []*Host{l.Client, l.Server} {
			if err := h.Do(func() error {
				i, err := net.InterfaceByName(h.Interface)
				if err != nil {
					return err
				}
				if i.HardwareAddr.String() != h.MAC.String() || i.Flags&net.FlagUp == 0 {
					t.Errorf("%s: MAC %v, flags %v", h.Namespace, i.HardwareAddr, i.Flags)
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		for _, h := range []*Host{l.Client, l.Server} {
			if _, err := os.Stat(filepath.Join(netnsDir, h.Namespace)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is still there: %v", h.Namespace, err)
			}
		}
	}
}

// A start that fails half-way leaves nothing.
func TestFailedStartLeavesNothing(t *testing.T) {
	need(t)
	_, server := hosts()
	if err := addNamespace(server.Namespace); err != nil {
		t.Fatal(err)
	}
	defer deleteNamespace(server.Namespace)
	// The tap's name is taken, in the second of the two namespaces.
	if err := server.Do(func() error {
		fds, err := openTap(server.Interface, 1)
		for _, f := range fds {
			t.Cleanup(func() { f.Close() })
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Queues: 2}); err == nil {
		t.Fatal("no error")
	}
	left, _ := filepath.Glob(filepath.Join(netnsDir, "weir-"+strconv.Itoa(os.Getpid())+"-client"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What a process that died has left is removed by the next lab; what belongs
// to a living one stays.
func TestSweep(t *testing.T) {
	need(t)
	child := exec.Command("/proc/self/exe", "-test.run=^$")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	dead := "weir-" + strconv.Itoa(child.Process.Pid) + "-client"
	alive := "weir-" + strconv.Itoa(os.Getpid()) + "-other"
	for _, n := range []string{dead, alive} {
		if err := addNamespace(n); err != nil {
			t.Fatal(err)
		}
	}
	defer deleteNamespace(alive)
	if err := unix.Kill(child.Process.Pid, 0); !errors.Is(err, unix.ESRCH) {
		t.Fatalf("the child's number is in use again: %v", err)
	}
	if err := sweep(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(netnsDir, dead)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there", dead)
	}
	if _, err := os.Stat(filepath.Join(netnsDir, alive)); err != nil {
		t.Errorf("%s is gone: %v", alive, err)
	}
}
