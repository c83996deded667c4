package supervise

import (
	"fmt"
	"syscall"
	"time"
)

// Service is one program to keep running.
type Service struct {
	// Name is short and unique: it prefixes log lines and names files.
	Name string
	// Argv is the program's path and its arguments.
	Argv []string
	// Env is added to the supervisor's environment.
	Env []string
	// Notify services are ready when they send READY=1 as sd_notify(3) describes;
	// others as soon as they run.
	Notify bool
	// ReadyWithin bounds the wait for READY=1; a service that takes longer is
	// stopped and restarted. 0 means one minute.
	ReadyWithin time.Duration
	// StopWithin is the time between SIGTERM and SIGKILL. 0 means five seconds.
	StopWithin time.Duration
	// Once services are not restarted.
	Once bool
	// TTY is the terminal that becomes the standard input and output and the
	// controlling terminal. Empty: output goes to the log, input is /dev/null.
	TTY string
	// OOM is the oom_score_adj: -1000 (never killed for memory) to 1000 (first).
	OOM int
	// Quiet services are not worth a line on the console when they end or start
	// again: shells.
	Quiet bool
}

func (s Service) readyWithin() time.Duration {
	if s.ReadyWithin == 0 {
		return time.Minute
	}
	return s.ReadyWithin
}

func (s Service) stopWithin() time.Duration {
	if s.StopWithin == 0 {
		return 5 * time.Second
	}
	return s.StopWithin
}

// Exit is how a process ended.
type Exit struct {
	Code   int            // exit status, if Signal is 0
	Signal syscall.Signal // that killed it, or 0
	Err    error          // it could not be started
}

func (e Exit) String() string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case e.Signal != 0:
		return fmt.Sprintf("killed by the signal %v", e.Signal)
	}
	return fmt.Sprintf("exit %d", e.Code)
}

// Process is a running service.
type Process interface {
	PID() int
	// Ready is closed once the process has said that it is ready.
	Ready() <-chan struct{}
	// Done is closed once the process has ended and what it left is gone; Exit
	// is valid then.
	Done() <-chan struct{}
	Exit() Exit
	// Signal signals the process itself, Kill kills it and all it started.
	Signal(syscall.Signal)
	Kill()
}

// Runner starts processes.
type Runner interface {
	Start(Service) (Process, error)
}
