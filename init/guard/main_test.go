package guard

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/init/kmsg"
	"weir/internal/testenv"
)

// The test program runs again as process 1 of a new PID namespace, with itself
// as the worker, which plays the scenario of the environment.
const scenarioEnv = "WEIR_GUARD_SCENARIO"

func TestMain(m *testing.M) {
	name := os.Getenv(scenarioEnv)
	switch {
	case name == "":
		os.Exit(m.Run())
	case os.Getpid() == 1:
		pauseAfter = func(n int) time.Duration {
			if name == "panic" && n == 1 {
				var p *guardian
				p.last = "nil" // in process 1 itself
			}
			return time.Millisecond
		}
		graceful = 2 * time.Second
		kmsg.Redirect(func(_ kmsg.Level, line string) { os.Stderr.WriteString(line + "\n") })
		Run("/proc/self/exe", []string{"worker"})
	case os.Args[0] == "exit":
		var n int
		fmt.Sscan(os.Args[1], &n)
		os.Exit(n)
	case os.Args[0] == "sleep":
		time.Sleep(time.Hour)
	}
	// Own /proc, to look at the namespace's processes.
	must(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	must(unix.Mount("proc", "/proc", "proc", 0, ""))
	scenarios[name]()
	fmt.Println("the scenario ended without an end")
	os.Exit(1)
}

func must(err error) {
	if err != nil {
		fmt.Println("scenario:", err)
		os.Exit(ExitPowerOff)
	}
}

// play runs a scenario and returns what was printed and the signal that ended
// process 1: the kernel turns a reboot(2) inside a PID namespace into SIGHUP
// for a restart and SIGINT for a halt (kernel/pid_namespace.c,
// reboot_pid_ns).
func play(t *testing.T, name string) (string, syscall.Signal) {
	t.Helper()
	if os.Geteuid() != 0 {
		testenv.Missing(t, "a PID namespace needs root")
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), scenarioEnv+"="+name)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		testenv.Missing(t, "no new PID namespace: %v", err)
	}
	timer := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait()
	ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ws.Signaled() {
		t.Fatalf("process 1 ended with %d, as it never must:\n%s", ws.ExitStatus(), out.String())
	}
	t.Log(out.String())
	return out.String(), ws.Signal()
}

const (
	restarted  = syscall.SIGHUP
	poweredOff = syscall.SIGINT
)

func want(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("%q was not said", text)
		}
	}
}
