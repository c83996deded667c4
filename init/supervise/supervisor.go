package supervise

import (
	"context"
	"fmt"
	"sync"

	"weir/init/report"
)

// Options are what a Supervisor works with.
type Options struct {
	Runner Runner
	// Log gets one line of text about a service; may be nil.
	Log func(service, text string)
	// Changed is called after a change of any status, never concurrently; may be
	// nil. It must not call the Supervisor.
	Changed func([]report.Service)
}

// Supervisor runs services.
type Supervisor struct {
	opt Options

	mu      sync.Mutex
	stopped bool
	units   []*unit
}

// New returns a Supervisor without services.
func New(opt Options) *Supervisor {
	if opt.Log == nil {
		opt.Log = func(string, string) {}
	}
	if opt.Changed == nil {
		opt.Changed = func([]report.Service) {}
	}
	return &Supervisor{opt: opt}
}

// Unit is a handle on a service that was started.
type Unit struct{ u *unit }

// Ready is closed when the service is ready for the first time.
func (h Unit) Ready() <-chan struct{} { return h.u.ready }

// Done is closed when the service will not run again: it was stopped, or it is
// a Once service that has ended. Exit is valid then.
func (h Unit) Done() <-chan struct{} { return h.u.done }

// Exit is how the last process of the service ended.
func (h Unit) Exit() Exit { return h.u.exit }

// Start starts a service and keeps it running until Stop.
func (s *Supervisor) Start(svc Service) (Unit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return Unit{}, fmt.Errorf("start %s: the supervisor was stopped", svc.Name)
	}
	for _, u := range s.units {
		if u.svc.Name == svc.Name {
			return Unit{}, fmt.Errorf("start %s: a service of this name is there already", svc.Name)
		}
	}
	u := newUnit(s, svc)
	s.units = append(s.units, u)
	go u.run()
	return Unit{u}, nil
}

// Restart stops the process of a service and starts it again at once.
func (s *Supervisor) Restart(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.units {
		if u.svc.Name == name {
			select {
			case u.again <- struct{}{}:
			default: // one is asked for already
			}
			return nil
		}
	}
	return fmt.Errorf("restart %s: there is no such service", name)
}

// Stop stops all services, the last started first, each with SIGTERM and after
// its time with SIGKILL. Nothing can be started after it. When ctx ends, what
// is left is killed.
func (s *Supervisor) Stop(ctx context.Context) {
	s.mu.Lock()
	s.stopped = true
	units := s.units
	s.mu.Unlock()
	for i := len(units) - 1; i >= 0; i-- {
		u := units[i]
		close(u.stop)
		select {
		case <-u.done:
		case <-ctx.Done():
			close(u.kill)
			<-u.done
		}
	}
}

// Status tells about all services in the order of their start.
func (s *Supervisor) Status() []report.Service {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status()
}

func (s *Supervisor) status() []report.Service {
	all := make([]report.Service, 0, len(s.units))
	for _, u := range s.units {
		all = append(all, u.status)
	}
	return all
}

// set changes the status of a unit and tells about it.
func (s *Supervisor) set(u *unit, change func(*report.Service)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&u.status)
	s.opt.Changed(s.status())
}
