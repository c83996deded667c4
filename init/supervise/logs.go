package supervise

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Logs keeps what services print: all of it in files of bounded size, and as
// much as a serial line can carry on the console.
type Logs struct {
	// Dir holds a file for each service, NAME, and the one before it, NAME.1.
	Dir string
	// Size is the most bytes of one file; a service has two.
	Size int64
	// Console prints a line.
	Console func(line string)

	mu    sync.Mutex
	files map[string]*logFile
}

type logFile struct {
	f    *os.File
	size int64
	// tokens are console lines that may still be printed; they grow with time.
	tokens float64
	at     time.Time
	hidden int
}

// A serial line carries about 100 lines a second and the kernel waits for it:
// a service may print a burst of burst lines and then perSecond.
const (
	burst     = 60
	perSecond = 10
)

// Line takes one line of a service. It may be called concurrently.
func (l *Logs) Line(service, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[service]
	if f == nil {
		f = &logFile{tokens: burst, at: time.Now()}
		if l.files == nil {
			l.files = map[string]*logFile{}
		}
		l.files[service] = f
	}
	l.keep(f, service, line)
	l.show(f, service, line)
}

// keep writes a line to the service's file. A full or missing disk loses the
// line: a log must never stop a service.
func (l *Logs) keep(f *logFile, service, line string) {
	path := filepath.Join(l.Dir, service)
	if f.f != nil && f.size+int64(len(line))+1 > l.Size {
		f.f.Close()
		f.f = nil
		_ = os.Rename(path, path+".1")
	}
	if f.f == nil {
		_ = os.MkdirAll(l.Dir, 0o755)
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return
		}
		f.f, f.size = file, 0
		if fi, err := file.Stat(); err == nil {
			f.size = fi.Size()
		}
	}
	n, _ := f.f.WriteString(line + "\n")
	f.size += int64(n)
}

func (l *Logs) show(f *logFile, service, line string) {
	now := time.Now()
	f.tokens = min(burst, f.tokens+now.Sub(f.at).Seconds()*perSecond)
	f.at = now
	if f.tokens < 1 {
		f.hidden++
		return
	}
	f.tokens--
	if f.hidden > 0 {
		l.Console(fmt.Sprintf("%s: %d lines are only in %s", service, f.hidden, filepath.Join(l.Dir, service)))
		f.hidden = 0
	}
	l.Console(service + ": " + line)
}
