package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func serve(t *testing.T, handle func(Request) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run", "init.sock")
	s, err := Serve(path, handle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return path
}

func TestRequestAndReply(t *testing.T) {
	var got []Request
	path := serve(t, func(r Request) error {
		got = append(got, r)
		if r.Verb == VerbRestart {
			return fmt.Errorf("no service %q", r.Service)
		}
		return nil
	})
	if err := ask(path, Request{Verb: VerbReboot, Reason: "test"}); err != nil {
		t.Error(err)
	}
	err := ask(path, Request{Verb: VerbRestart, Service: "x"})
	var refused *Refused
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), `no service "x"`) {
		t.Errorf("%v", err)
	}
	if len(got) != 2 || got[0] != (Request{Verb: VerbReboot, Reason: "test"}) || got[1].Service != "x" {
		t.Errorf("got %+v", got)
	}
}

func TestSocketIsForRootAlone(t *testing.T) {
	path := serve(t, func(Request) error { return nil })
	fi, err := os.Stat(path)
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
}

func TestNonsenseIsAnsweredAndStopsNothing(t *testing.T) {
	path := serve(t, func(Request) error { return nil })
	for _, nonsense := range []string{"reboot\n", "{\"verb\":", strings.Repeat("{\"a\":", 5000), "\x00\xff\n"} {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write([]byte(nonsense))
		_ = c.(*net.UnixConn).CloseWrite()
		buf := make([]byte, 1000)
		n, _ := c.Read(buf)
		// With unread input the kernel may drop the answer; it must be no "yes".
		if n > 0 && !strings.Contains(string(buf[:n]), "not readable") {
			t.Errorf("%.20q was answered %q", nonsense, buf[:n])
		}
		c.Close()
	}
	if err := ask(path, Request{Verb: VerbReboot}); err != nil {
		t.Error(err)
	}
}

func TestServerComesBackOnTheSamePath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "init.sock")
	for range 2 {
		// The first is not closed: it died.
		if _, err := Serve(path, func(Request) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if err := ask(path, Request{Verb: VerbReboot}); err != nil {
			t.Fatal(err)
		}
	}
}

// On a workstation nothing may reach process 1.
func TestOtherSystemsAreLeftAlone(t *testing.T) {
	c := client{filepath.Join(t.TempDir(), "none"), func() bool { return false }, func(int, unix.Signal) error {
		t.Error("process 1 was signalled")
		return nil
	}}
	if err := c.end(VerbReboot, "test", unix.SIGTERM); !errors.Is(err, ErrNotWeir) {
		t.Errorf("%v", err)
	}
}

func TestSignalWhereTheWorkerDoesNotAnswer(t *testing.T) {
	var got []string
	c := client{filepath.Join(t.TempDir(), "none"), func() bool { return true }, func(pid int, s unix.Signal) error {
		got = append(got, fmt.Sprint(pid, " ", s))
		return nil
	}}
	if err := c.end(VerbPowerOff, "test", unix.SIGUSR2); err != nil || len(got) != 1 || got[0] != "1 user defined signal 2" {
		t.Errorf("%v, signals %v", err, got)
	}
}

func TestRefusalIsNotForced(t *testing.T) {
	path := serve(t, func(Request) error { return errors.New("not now") })
	c := client{path, func() bool { return true }, func(int, unix.Signal) error {
		t.Error("process 1 was signalled")
		return nil
	}}
	if err := c.end(VerbReboot, "test", unix.SIGTERM); err == nil || !strings.Contains(err.Error(), "not now") {
		t.Errorf("%v", err)
	}
}
