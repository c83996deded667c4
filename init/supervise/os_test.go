package supervise

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/internal/testenv"
)

// The test program is also the services that it starts.
const playEnv = "WEIR_SUPERVISE_PLAY"

func TestMain(m *testing.M) {
	switch os.Getenv(playEnv) {
	case "":
		os.Exit(m.Run())
	case "exit":
		fmt.Println("out")
		fmt.Fprintln(os.Stderr, "err")
		fmt.Print("no end of line")
		os.Exit(42)
	case "ready":
		c, err := net.Dial("unixgram", os.Getenv("NOTIFY_SOCKET"))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Fprint(c, "STATUS=starting")
		fmt.Fprint(c, "STATUS=up\nREADY=1\n")
		time.Sleep(time.Hour)
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("deaf")
		time.Sleep(time.Hour)
	case "parent":
		// Leaves a child that holds the output open.
		p, err := os.StartProcess("/proc/self/exe", []string{"child"}, &os.ProcAttr{
			Env: []string{playEnv + "=deaf"}, Files: []*os.File{nil, os.Stdout, os.Stderr},
		})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("child", p.Pid)
		os.Exit(0)
	case "daemon":
		// Leaves a child in a session of its own, as daemons do.
		p, err := os.StartProcess("/proc/self/exe", []string{"child"}, &os.ProcAttr{
			Env: []string{playEnv + "=deaf"}, Files: []*os.File{nil, os.Stdout, os.Stderr},
			Sys: &syscall.SysProcAttr{Setsid: true},
		})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("child", p.Pid)
		os.Exit(0)
	case "crash":
		go func() { panic("in a child goroutine") }()
		time.Sleep(time.Hour)
	case "tty":
		var sid, ctty string
		if got, err := unix.Getsid(0); err == nil && got == os.Getpid() {
			sid = "leader"
		}
		if f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
			ctty = "has a terminal"
			f.Close()
		}
		fmt.Println(sid, ctty)
	}
	os.Exit(0)
}

// lines collects output.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(_, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "|")
}

// patience is only ever used up by a test that fails.
const patience = time.Minute

func play(t *testing.T, how string, svc Service) (Process, *lines) {
	t.Helper()
	return playWith(t, &OS{}, how, svc)
}

func playWith(t *testing.T, o *OS, how string, svc Service) (Process, *lines) {
	t.Helper()
	var out lines
	o.Dir, o.Output = filepath.Join(t.TempDir(), "n"), out.add
	svc.Name, svc.Argv, svc.Env = how, []string{"/proc/self/exe"}, append(svc.Env, playEnv+"="+how)
	p, err := o.Start(svc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		<-p.Done()
	})
	return p, &out
}

func wait(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
	}
}

func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestOutputAndExit(t *testing.T) {
	p, out := play(t, "exit", Service{})
	wait(t, "the end", p.Done())
	if got := p.Exit(); got.Code != 42 || got.String() != "exit 42" {
		t.Errorf("exit %+v", got)
	}
	if got := out.String(); got != "out|err|no end of line" {
		t.Errorf("output %q", got)
	}
}

func TestNotify(t *testing.T) {
	p, _ := play(t, "ready", Service{Notify: true, OOM: 500})
	wait(t, "readiness", p.Ready())
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", p.PID()))
	if err != nil || strings.TrimSpace(string(b)) != "500" {
		t.Errorf("oom_score_adj %q, %v", b, err)
	}
	p.Signal(syscall.SIGTERM)
	wait(t, "the end", p.Done())
	if p.Exit().Signal != syscall.SIGTERM {
		t.Errorf("exit %v", p.Exit())
	}
}

func TestKill(t *testing.T) {
	p, out := play(t, "deaf", Service{})
	eventually(t, "its output", func() bool { return out.String() == "deaf" })
	p.Signal(syscall.SIGTERM)
	p.Kill()
	wait(t, "the end", p.Done())
	if p.Exit().Signal != syscall.SIGKILL {
		t.Errorf("exit %v", p.Exit())
	}
}

// A panic in any goroutine of a service is an exit like another.
func TestPanicInAService(t *testing.T) {
	p, out := play(t, "crash", Service{})
	wait(t, "the end", p.Done())
	if p.Exit().Code != 2 || !strings.Contains(out.String(), "panic: in a child goroutine") {
		t.Errorf("exit %v, output %q", p.Exit(), out)
	}
}

func TestWhatAServiceLeavesIsKilled(t *testing.T) {
	p, out := play(t, "parent", Service{})
	wait(t, "the end", p.Done())
	if p.Exit().Code != 0 {
		t.Fatalf("exit %v, output %q", p.Exit(), out)
	}
	child := childOf(t, out)
	eventually(t, "the child's end", func() bool { return gone(child) })
}

func childOf(t *testing.T, out *lines) int {
	t.Helper()
	_, text, _ := strings.Cut(out.String(), "child ")
	text, _, _ = strings.Cut(text, "|")
	pid, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("output %q", out)
	}
	return pid
}

func TestDaemonThatAServiceLeavesIsKilled(t *testing.T) {
	runtime.LockOSThread() // never unlocked: the thread must not serve others
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		testenv.Missing(t, "no new mount namespace (%v): run as root", err)
	}
	root := t.TempDir()
	if err := errors.Join(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("cgroup2", root, "cgroup2", 0, "")); err != nil {
		testenv.Missing(t, "no cgroup2 file system: %v", err)
	}
	ours := filepath.Join(root, fmt.Sprintf("weir-test-%d", os.Getpid()))
	t.Cleanup(func() {
		eventually(t, "empty cgroups", func() bool {
			return os.Remove(filepath.Join(ours, "daemon")) == nil && os.Remove(ours) == nil
		})
		_ = unix.Unmount(root, 0)
	})
	p, out := playWith(t, &OS{Cgroup: ours}, "daemon", Service{})
	wait(t, "the end", p.Done())
	child := childOf(t, out)
	eventually(t, "the daemon's end", func() bool { return gone(child) })
}

// gone tells whether a process is no more, or a zombie that its new parent has
// yet to reap.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z")
}

func TestProgramThatIsNotThere(t *testing.T) {
	o := &OS{Dir: t.TempDir(), Output: func(_, _ string) {}}
	before := descriptors(t)
	for range 20 {
		if _, err := o.Start(Service{Name: "no", Argv: []string{"/no/such"}, Notify: true}); err == nil {
			t.Fatal("started")
		}
		if _, err := o.Start(Service{Name: "no", Argv: []string{"/no/such"}, TTY: "/no/tty"}); err == nil {
			t.Fatal("started")
		}
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func descriptors(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func TestTerminal(t *testing.T) {
	m, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := unix.IoctlSetPointerInt(int(m.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(m.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := play(t, "tty", Service{TTY: fmt.Sprintf("/dev/pts/%d", n)})
	wait(t, "the end", p.Done())
	buf := make([]byte, 100)
	got, _ := m.Read(buf)
	if text := string(buf[:got]); text != "leader has a terminal\r\n" {
		t.Errorf("the service said %q", text)
	}
}
