package machine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Machine is a running guest.
type Machine struct {
	// Console is the serial console. Do not read it in an Interactive machine.
	Console *Console
	// Shell is the second console, hvc0, as raw bytes.
	Shell net.Conn
	// Agent is the channel to package agent's half in the guest.
	Agent net.Conn

	cfg    Config
	dir    string
	proc   *os.Process
	ended  chan struct{} // closed when QEMU is gone
	result error         // why, valid after ended
	stderr *tailWriter
}

var programs = map[string]string{"arm64": "qemu-system-aarch64", "arm": "qemu-system-arm"}

// Program returns the path of the QEMU for an architecture.
func Program(arch string) (string, error) {
	name, ok := programs[arch]
	if !ok {
		return "", fmt.Errorf("no QEMU is known for architecture %q", arch)
	}
	p, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed (Debian package qemu-system-arm): run scripts/setup", name)
	}
	return p, nil
}

// Start boots the guest. When ctx ends the guest is killed. The caller must
// call Close, which also removes the temporary files.
func Start(ctx context.Context, cfg Config) (*Machine, error) {
	qemu, err := Program(cfg.Arch)
	if err != nil {
		return nil, err
	}
	if cfg.Silence == 0 {
		cfg.Silence = 60 * time.Second
	}
	for _, f := range []string{cfg.Kernel, cfg.Initrd} {
		if f == "" { // WriteInitrd takes the parts alone
			continue
		}
		if _, err := os.Stat(f); err != nil {
			return nil, fmt.Errorf("part of the image is missing (build it with weir-image): %w", err)
		}
	}
	dir, err := os.MkdirTemp("", "weir-machine-")
	if err != nil {
		return nil, err
	}
	m := &Machine{cfg: cfg, dir: dir, Console: newConsole(), ended: make(chan struct{}), stderr: &tailWriter{}}
	if err := m.start(ctx, qemu); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return m, nil
}

func (m *Machine) start(ctx context.Context, qemu string) (err error) {
	initrd := filepath.Join(m.dir, "initrd")
	out, err := os.Create(initrd)
	if err != nil {
		return err
	}
	err = errors.Join(WriteInitrd(out, m.cfg.Initrd, m.cfg.Parts), out.Close())
	if err != nil {
		return err
	}
	var ours [3]net.Conn
	var theirs [3]*os.File
	defer func() {
		for i := range theirs {
			theirs[i].Close() // QEMU has its own copies; nil is fine
			if err != nil && ours[i] != nil {
				ours[i].Close()
			}
		}
	}()
	for i := range ours {
		if ours[i], theirs[i], err = streamPair(); err != nil {
			return err
		}
	}
	var inherit fds
	args := m.cfg.args(initrd, &inherit, theirs[0], theirs[1], theirs[2])
	cmd := exec.Command(qemu, args...)
	cmd.ExtraFiles = inherit
	cmd.Stderr = m.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig: syscall.SIGKILL,
		// Ctrl-C is for us: we end the guest in order.
		Setpgid: !m.cfg.Interactive,
	}
	if m.cfg.Interactive {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	}
	started := make(chan error)
	go func() {
		// The parent-death signal is sent when the thread that forked ends, so that
		// thread has to stay until QEMU is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		m.proc = cmd.Process
		started <- err
		if err == nil {
			m.result = cmd.Wait()
			close(m.ended)
		}
	}()
	if err = <-started; err != nil {
		return fmt.Errorf("start %s: %w", qemu, err)
	}
	m.Shell, m.Agent = ours[1], ours[2]
	if !m.cfg.Interactive {
		// A typed nil in an io.Writer would not be nil.
		if m.cfg.Log != nil {
			go m.Console.follow(ours[0], m.cfg.Log)
		} else {
			go m.Console.follow(ours[0], nil)
		}
	}
	go func() {
		select {
		case <-ctx.Done():
			m.Kill()
		case <-m.ended:
		}
		<-m.ended
		for _, c := range ours {
			c.Close()
		}
	}()
	return nil
}

// WaitLine waits for a console line that matches re, looking at the lines from
// number `from` on; it returns the match and the number of the line after it.
func (m *Machine) WaitLine(ctx context.Context, from int, re *regexp.Regexp) ([]string, int, error) {
	var found []string
	next, err := m.Follow(ctx, from, func(l string) bool {
		found = re.FindStringSubmatch(l)
		return found != nil
	})
	if err != nil {
		return nil, next, fmt.Errorf("waiting for %q: %w", re, err)
	}
	return found, next, nil
}

// Follow calls each with the console lines from number `from` on until it
// returns true, and returns the number of the line after that.
func (m *Machine) Follow(ctx context.Context, from int, each func(line string) bool) (int, error) {
	next, err := m.Console.wait(ctx, from, m.cfg.Silence, each)
	if err != nil {
		if s := m.stderr.String(); s != "" {
			err = fmt.Errorf("%w\nQEMU said:\n    | %s", err, s)
		}
	}
	return next, err
}

// Wait waits for QEMU to end, and returns how it ended.
func (m *Machine) Wait(ctx context.Context) error {
	select {
	case <-m.ended:
		if m.result != nil {
			return fmt.Errorf("QEMU: %w: %s", m.result, m.stderr)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Ended is closed when QEMU is gone.
func (m *Machine) Ended() <-chan struct{} { return m.ended }

// Kill ends QEMU at once.
func (m *Machine) Kill() { m.proc.Kill() }

// Close kills the guest if it still runs and removes what Start made.
func (m *Machine) Close() error {
	m.Kill()
	<-m.ended
	return os.RemoveAll(m.dir)
}

// streamPair is a connected pair of sockets, ours and QEMU's.
func streamPair() (net.Conn, *os.File, error) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	a, b := os.NewFile(uintptr(p[0]), "lab"), os.NewFile(uintptr(p[1]), "qemu")
	defer a.Close()
	c, err := net.FileConn(a)
	if err != nil {
		b.Close()
		return nil, nil, err
	}
	return c, b, nil
}
