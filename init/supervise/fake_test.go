package supervise

import (
	"errors"
	"sync"
	"syscall"
)

// fakeRunner starts processes that end when the test says so.
type fakeRunner struct {
	mu      sync.Mutex
	started []*fakeProcess
	fail    error // Start fails with it
	deaf    bool  // processes ignore SIGTERM
}

func (f *fakeRunner) Start(svc Service) (Process, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := &fakeProcess{svc: svc, pid: 100 + len(f.started), deaf: f.deaf, ready: make(chan struct{}), done: make(chan struct{})}
	f.started = append(f.started, p)
	if f.fail != nil {
		return nil, f.fail
	}
	return p, nil
}

func (f *fakeRunner) starts() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.started)
}

func (f *fakeRunner) last() *fakeProcess {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.started[len(f.started)-1]
}

type fakeProcess struct {
	svc   Service
	pid   int
	deaf  bool
	ready chan struct{}

	once sync.Once
	exit Exit
	done chan struct{}

	mu      sync.Mutex
	signals []syscall.Signal
}

func (p *fakeProcess) end(e Exit) {
	p.once.Do(func() {
		p.exit = e
		close(p.done)
	})
}

func (p *fakeProcess) PID() int               { return p.pid }
func (p *fakeProcess) Ready() <-chan struct{} { return p.ready }
func (p *fakeProcess) Done() <-chan struct{}  { return p.done }
func (p *fakeProcess) Exit() Exit             { return p.exit }
func (p *fakeProcess) Kill()                  { p.Signal(syscall.SIGKILL) }

func (p *fakeProcess) Signal(s syscall.Signal) {
	p.mu.Lock()
	p.signals = append(p.signals, s)
	p.mu.Unlock()
	if s == syscall.SIGKILL || !p.deaf {
		p.end(Exit{Signal: s})
	}
}

func (p *fakeProcess) got(s syscall.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range p.signals {
		if g == s {
			return true
		}
	}
	return false
}

var errFake = errors.New("no such program")
