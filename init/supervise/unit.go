package supervise

import (
	"fmt"
	"syscall"
	"time"

	"weir/init/report"
)

const (
	// firstPause is short, since most restarts are of programs that ran long and
	// well; each quick end doubles it, up to maxPause, so that a program that
	// cannot run costs next to nothing.
	firstPause = 250 * time.Millisecond
	maxPause   = 30 * time.Second
	// healthy is how long a process must have run for the pause to start anew.
	healthy = time.Minute
)

// unit is a service under supervision. Its goroutine, run, writes all fields
// after newUnit; readers wait for done first, and status is under the
// supervisor's lock.
type unit struct {
	s   *Supervisor
	svc Service

	stop, kill chan struct{} // closed by Supervisor.Stop
	again      chan struct{} // one request to restart
	ready      chan struct{}
	done       chan struct{}

	exit      Exit
	everReady bool
	status    report.Service
}

func newUnit(s *Supervisor, svc Service) *unit {
	return &unit{
		s: s, svc: svc,
		stop: make(chan struct{}), kill: make(chan struct{}), again: make(chan struct{}, 1),
		ready: make(chan struct{}), done: make(chan struct{}),
		status: report.Service{Name: svc.Name},
	}
}

func (u *unit) run() {
	defer close(u.done)
	pause := firstPause
	for {
		began := time.Now()
		how := u.once()
		if how == stopped || u.svc.Once {
			return
		}
		if time.Since(began) >= healthy || how == asked {
			pause = firstPause
		}
		if how == died {
			if !u.svc.Quiet {
				u.log("ended: %v; it starts again in %v", u.exit, pause)
			}
			select {
			case <-time.After(pause):
			case <-u.again:
			case <-u.stop:
				return
			}
			pause = min(2*pause, maxPause)
		}
		u.s.set(u, func(r *report.Service) { r.Restarts++ })
	}
}

// how says why a process of a unit is gone.
type how int

const (
	died    how = iota // by itself, or it was never ready
	asked              // Restart
	stopped            // Stop
)

// once is the life of one process.
func (u *unit) once() how {
	p, err := u.s.opt.Runner.Start(u.svc)
	if err != nil {
		u.exit = Exit{Err: err}
		u.s.set(u, func(r *report.Service) { r.LastExit = u.exit.String() })
		return died
	}
	u.s.set(u, func(r *report.Service) { r.PID = p.PID() })
	why := u.attend(p)
	u.exit = p.Exit()
	u.s.set(u, func(r *report.Service) { r.PID, r.Ready, r.LastExit = 0, false, u.exit.String() })
	return why
}

// attend waits for what happens to a process until it is gone.
func (u *unit) attend(p Process) how {
	ready := p.Ready()
	var late <-chan time.Time
	if u.svc.Notify {
		t := time.NewTimer(u.svc.readyWithin())
		defer t.Stop()
		late = t.C
	} else {
		u.isReady()
		ready = nil
	}
	for {
		select {
		case <-p.Done():
			return died
		case <-ready:
			u.isReady()
			ready, late = nil, nil
		case <-late:
			u.log("is not ready after %v: stopping it", u.svc.readyWithin())
			u.end(p)
			return died
		case <-u.again:
			u.end(p)
			return asked
		case <-u.stop:
			u.end(p)
			return stopped
		}
	}
}

func (u *unit) isReady() {
	if !u.everReady {
		u.everReady = true
		close(u.ready)
	}
	u.s.set(u, func(r *report.Service) { r.Ready = true })
}

// end makes a process end: SIGTERM, then Kill.
func (u *unit) end(p Process) {
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.Done():
		return
	case <-time.After(u.svc.stopWithin()):
		if !u.svc.Quiet {
			u.log("did not end within %v: killing it", u.svc.stopWithin())
		}
	case <-u.kill:
	}
	p.Kill()
	<-p.Done()
}

func (u *unit) log(format string, args ...any) {
	u.s.opt.Log(u.svc.Name, fmt.Sprintf(format, args...))
}
