package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Reporter writes progress. A nil *Reporter is silent.
type Reporter struct {
	mu    sync.Mutex
	w     io.Writer
	tty   bool
	stage *Stage // the one that is being shown
}

// New reports to w, with rewritten lines if w is a terminal.
func New(w io.Writer) *Reporter {
	r := &Reporter{w: w}
	if f, ok := w.(*os.File); ok {
		r.tty = term.IsTerminal(int(f.Fd()))
	}
	return r
}

// Note writes one line.
func (r *Reporter) Note(format string, args ...any) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
	fmt.Fprintf(r.w, format+"\n", args...)
}

// Warn writes one line that cannot be overlooked.
func (r *Reporter) Warn(format string, args ...any) {
	r.Note("WARNING: "+format, args...)
}

// clear removes the rewritten line, if one is there.
func (r *Reporter) clear() {
	if r.tty && r.stage != nil {
		fmt.Fprint(r.w, "\r\x1b[K")
	}
}

// Signs of life: rewriting a terminal line is cheap, a line in a log is not.
const (
	everyTTY = 200 * time.Millisecond
	everyLog = 10 * time.Second
)

// Stage is one running step. It counts bytes if they are written to it.
type Stage struct {
	r       *Reporter
	what    string
	total   int64
	start   time.Time
	mu      sync.Mutex
	written int64
	stop    chan struct{}
	stopped chan struct{}
}

// Begin shows a stage until Done or Fail. total is the number of bytes expected,
// 0 for a stage without.
func (r *Reporter) Begin(total int64, format string, args ...any) *Stage {
	s := &Stage{
		r: r, what: fmt.Sprintf(format, args...), total: total, start: time.Now(),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	if r == nil {
		close(s.stopped)
		return s
	}
	r.mu.Lock()
	r.stage = s
	r.mu.Unlock()
	if !r.tty {
		r.Note("%s ...", s.what)
	}
	go s.live()
	return s
}

// live writes signs of life until the stage stops.
func (s *Stage) live() {
	defer close(s.stopped)
	every := everyLog
	if s.r.tty {
		every = everyTTY
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		s.r.mu.Lock()
		if s.r.tty {
			fmt.Fprintf(s.r.w, "\r\x1b[K%s ... %s", s.what, s.state())
		} else {
			fmt.Fprintf(s.r.w, "%s ... %s\n", s.what, s.state())
		}
		s.r.mu.Unlock()
	}
}

// state is the seconds so far, and the bytes where they are known.
func (s *Stage) state() string {
	sec := time.Since(s.start).Seconds()
	s.mu.Lock()
	n := s.written
	s.mu.Unlock()
	switch {
	case n == 0:
		return fmt.Sprintf("%.1f s", sec)
	case s.total == 0:
		return fmt.Sprintf("%s, %.1f s", Bytes(n), sec)
	}
	return fmt.Sprintf("%s of %s (%d %%), %.1f s", Bytes(n), Bytes(s.total), n*100/s.total, sec)
}

// Write counts bytes that have arrived.
func (s *Stage) Write(p []byte) (int, error) {
	s.mu.Lock()
	s.written += int64(len(p))
	s.mu.Unlock()
	return len(p), nil
}

// Done ends the stage with its seconds; note, if not empty, goes with them.
func (s *Stage) Done(note string) {
	if !s.end() {
		return
	}
	if note != "" {
		note = ": " + note
	}
	s.r.Note("%s %s%s", s.what, s.state(), note)
}

// Fail ends the stage; the error itself is reported by whoever gets it.
func (s *Stage) Fail() {
	if s.end() {
		s.r.Note("%s failed after %s", s.what, s.state())
	}
}

// Finish is Done or Fail, by err.
func (s *Stage) Finish(err error) {
	if err != nil {
		s.Fail()
		return
	}
	s.Done("")
}

// end stops the signs of life; false if there is nothing to say.
func (s *Stage) end() bool {
	if s.r == nil {
		return false
	}
	close(s.stop)
	<-s.stopped
	s.r.mu.Lock()
	s.r.clear()
	s.r.stage = nil
	s.r.mu.Unlock()
	return true
}

// Bytes is n for people, in the powers of ten that disks and networks use.
func Bytes(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n >= 1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}
