package agent_test

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"weir/qemu/agent"
)

// The programs that the requests run are this test binary itself, so that the
// test also runs where there is no shell.
func TestMain(m *testing.M) {
	switch os.Getenv("AGENT_TEST_CHILD") {
	case "echo":
		os.Stdout.WriteString("out\n")
		os.Stderr.WriteString("err\n")
		os.Exit(3)
	case "hang":
		time.Sleep(time.Hour) // not select {}: the runtime would call that a deadlock
	}
	os.Exit(m.Run())
}

func start(t *testing.T) *agent.Client {
	host, guest := net.Pipe()
	go agent.Serve(guest)
	t.Cleanup(func() { host.Close(); guest.Close() })
	c := agent.NewClient(host)
	if err := c.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOutputAndExitStatus(t *testing.T) {
	t.Setenv("AGENT_TEST_CHILD", "echo")
	c := start(t)
	r, err := c.Do(t.Context(), agent.Request{Argv: []string{os.Args[0]}})
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Stdout) != "out\n" || string(r.Stderr) != "err\n" || r.Exit != 3 {
		t.Errorf("got %q, %q, exit %d", r.Stdout, r.Stderr, r.Exit)
	}
	if _, err := c.Run(t.Context(), os.Args[0]); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("Run gives %v for a program that fails", err)
	}
}

func TestProgramThatIsNotThere(t *testing.T) {
	c := start(t)
	if _, err := c.Run(t.Context(), "/no/such/program"); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("got %v", err)
	}
}

// A program that hangs is killed, and holds up no other.
func TestHangingProgram(t *testing.T) {
	t.Setenv("AGENT_TEST_CHILD", "hang")
	c := start(t)
	hung := make(chan error, 1)
	go func() {
		_, err := c.Do(t.Context(), agent.Request{Argv: []string{os.Args[0]}, Timeout: 300 * time.Millisecond})
		hung <- err
	}()
	if _, err := c.Run(t.Context(), "/no/such/program"); err == nil {
		t.Error("no error")
	}
	if err := <-hung; err == nil || !strings.Contains(err.Error(), "killed after") {
		t.Errorf("got %v", err)
	}
}

func TestGuestGone(t *testing.T) {
	host, guest := net.Pipe()
	c := agent.NewClient(host)
	guest.Close()
	if err := c.Ready(t.Context()); err == nil {
		t.Error("ready without a guest")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := c.Run(ctx, "x"); err == nil || ctx.Err() != nil {
		t.Errorf("got %v", err)
	}
}
