package guard

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"weir/init/kmsg"
)

// How the worker ends on purpose; every other end is a death.
const (
	ExitReboot   = 100
	ExitPowerOff = 101
)

// StartsEnv tells the worker how often a worker was started within Window
// before it, and DeathEnv how the last one ended.
const (
	StartsEnv = "WEIR_INIT_DEATHS"
	DeathEnv  = "WEIR_INIT_LAST_DEATH"
)

const (
	// Window is how long a death counts.
	Window = 10 * time.Minute
	// giveUp deaths within Window end in a reboot: what is wrong is deeper than
	// the worker.
	giveUp = 6
	// spare threads are more than process 1 ever uses at once: the main
	// goroutine, the runtime's signal goroutine, and a blocked call of each.
	spare = 6
)

// Variables for tests alone.
var (
	// graceful is how long the worker has to stop the services in order before
	// process 1 does it without order.
	graceful = 45 * time.Second
	// pauseAfter is the pause before the start that follows the n-th death.
	pauseAfter = func(n int) time.Duration { return min(250*time.Millisecond<<n, 10*time.Second) }
)

// Mode is what a worker shall do after a number of deaths within Window.
type Mode int

const (
	Normal  Mode = iota
	Default      // with the board's configuration: the operator's may be the reason
	Shells       // mounts and shells only
)

// ModeAfter is the ladder: two ordinary restarts, two with the board's default
// configuration, then shells alone; the sixth death reboots.
func ModeAfter(deaths int) Mode {
	switch {
	case deaths < 3:
		return Normal
	case deaths < 5:
		return Default
	}
	return Shells
}

// Run is process 1: it runs the program path as the worker, and never returns.
func Run(path string, argv []string) {
	g := &guardian{path: path, argv: argv}
	g.prepare()
	for {
		if p := attempt(g.once); p != nil {
			// The worker may live; died clears the ground for the next.
			attempt(func() { g.died(fmt.Sprintf("process 1 caught its own panic: %v", p)) })
		}
	}
}

type guardian struct {
	path string
	argv []string

	// Each in a channel of its own: a flood of one kind hides no other. One of a
	// kind waiting is enough, since what follows it looks at everything.
	children chan os.Signal // SIGCHLD
	asks     chan os.Signal // reboot, power off
	others   chan os.Signal // caught so that the Go runtime does not die of them

	deaths []time.Time
	last   string

	wanted action // what a signal asked for
	by     string
}

// prepare makes process 1 independent of what may run out later.
func (g *guardian) prepare() {
	debug.SetGCPercent(-1)
	spareThreads(spare)
	g.children = make(chan os.Signal, 1)
	g.asks = make(chan os.Signal, 1)
	g.others = make(chan os.Signal, 1)
	g.deaths = make([]time.Time, 0, 2*giveUp)
	signal.Notify(g.children, unix.SIGCHLD)
	signal.Notify(g.asks, unix.SIGTERM, unix.SIGINT, unix.SIGUSR2, unix.SIGPWR)
	// The runtime's handlers take away the protection that the kernel gives a
	// process 1 without handlers. SIGURG is the runtime's own and harmless.
	signal.Notify(g.others, unix.SIGHUP, unix.SIGQUIT, unix.SIGILL, unix.SIGTRAP, unix.SIGABRT, unix.SIGBUS,
		unix.SIGFPE, unix.SIGUSR1, unix.SIGSEGV, unix.SIGPIPE, unix.SIGALRM, unix.SIGSTKFLT, unix.SIGTSTP,
		unix.SIGTTIN, unix.SIGTTOU, unix.SIGXCPU, unix.SIGXFSZ, unix.SIGSYS)
	// Ctrl-Alt-Del becomes SIGINT to process 1 instead of a reset.
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_CAD_OFF)
}

// spareThreads makes the runtime create n threads, which it keeps: where the
// system has no thread left, it need not ask for one, which would be fatal.
func spareThreads(n int) {
	ready, gate := make(chan struct{}), make(chan struct{})
	for range n {
		go func() {
			runtime.LockOSThread()
			ready <- struct{}{}
			<-gate
			runtime.UnlockOSThread()
		}()
	}
	for range n {
		<-ready
	}
	close(gate)
}

// attempt runs f and returns what it panicked with, after a message.
func attempt(f func()) (p any) {
	defer func() {
		if p = recover(); p != nil {
			kmsg.Logf(kmsg.Crit, "weir: panic in process 1: %v\n%s", p, debug.Stack())
		}
	}()
	f()
	return nil
}

// once is the life of one worker.
func (g *guardian) once() {
	pid, err := g.start()
	if err != nil {
		g.died(fmt.Sprintf("could not be started: %v", err))
		return
	}
	status := g.watch(pid)
	switch {
	case g.wanted != none:
		g.end(g.wanted, g.by)
	case status.Exited() && status.ExitStatus() == ExitReboot:
		g.end(reboot, "asked for, services stopped")
	case status.Exited() && status.ExitStatus() == ExitPowerOff:
		g.end(powerOff, "asked for, services stopped")
	default:
		g.died(words(status))
	}
}

func (g *guardian) start() (pid int, err error) {
	env := append(os.Environ(), StartsEnv+"="+strconv.Itoa(len(g.recent())))
	if g.last != "" {
		env = append(env, DeathEnv+"="+g.last)
	}
	return syscall.ForkExec(g.path, g.argv, &syscall.ProcAttr{
		Dir: "/", Env: env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

// watch reaps every child until the worker ends, and passes on what signals
// ask for.
func (g *guardian) watch(pid int) syscall.WaitStatus {
	var deadline <-chan time.Time
	for {
		select {
		case <-g.children:
			if status, ended, _ := reap(pid); ended {
				return status
			}
		case s := <-g.others:
			kmsg.Infof("weir: process 1 ignores the signal %v", s)
		case s := <-g.asks:
			g.wanted, g.by = actionOf(s), fmt.Sprintf("asked for by the signal %v", s)
			_ = unix.Kill(pid, s.(unix.Signal))
			if deadline == nil {
				deadline = time.After(graceful)
			}
		case <-deadline:
			kmsg.Errorf("weir: the services did not stop within %v", graceful)
			g.end(g.wanted, g.by)
		}
	}
}

// died notes a death, clears what the worker left, and waits before the next
// start, longer each time.
func (g *guardian) died(how string) {
	g.last = how
	g.deaths = append(g.recent(), time.Now())
	n := len(g.deaths)
	if n >= giveUp {
		g.end(reboot, fmt.Sprintf("init's worker died %d times within %v, the last time: %s", n, Window, how))
	}
	pause := pauseAfter(n)
	kmsg.Logf(kmsg.Crit, "weir: init's worker died (%s); it starts again in %v (death %d of %d before a reboot)", how, pause, n, giveUp)
	g.clear(0, killed)
	time.Sleep(pause)
}

// recent drops the deaths that no longer count.
func (g *guardian) recent() []time.Time {
	n := 0
	for _, t := range g.deaths {
		if time.Since(t) < Window {
			g.deaths[n] = t
			n++
		}
	}
	g.deaths = g.deaths[:n]
	return g.deaths
}
