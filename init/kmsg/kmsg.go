package kmsg

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Level is a syslog severity (RFC 5424 section 6.2.1). The kernel's console
// shows what is below its own level: 7 by default, 4 with `quiet`.
type Level int

const (
	Crit    Level = 2
	Err     Level = 3
	Warning Level = 4
	Info    Level = 6
)

// maxText is what fits into one record: the kernel refuses a write above
// PRINTKRB_RECORD_MAX (1024 bytes, kernel/printk/printk.c), and 976 leaves room
// for the level and the text that the console puts before it.
const maxText = 976

// facility is LOG_DAEMON: the kernel keeps facility 0 for itself.
const facility = 3 << 3

var (
	mu   sync.Mutex
	file = -1
	out  func(Level, string) // where to instead of the kernel's log, or nil
)

// Redirect sends all messages to f, one line a call and never concurrently,
// instead of the kernel's log: for tests, which share the host's.
func Redirect(f func(level Level, line string)) {
	mu.Lock()
	defer mu.Unlock()
	out = f
}

// Logf writes one message. Each line of it becomes one record; control
// characters become spaces, so that a program's output cannot drive the
// terminal.
func Logf(level Level, format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		for line = clean(line); len(line) > maxText; line = line[maxText:] {
			write(level, line[:maxText])
		}
		write(level, line)
	}
}

// Infof writes a message of level Info.
func Infof(format string, args ...any) { Logf(Info, format, args...) }

// Errorf writes a message of level Err, which `quiet` does not hide.
func Errorf(format string, args ...any) { Logf(Err, format, args...) }

func write(level Level, text string) {
	mu.Lock()
	defer mu.Unlock()
	if out != nil {
		out(level, text)
		return
	}
	if file < 0 {
		// Not os.File: no poller, no finalizer, nothing that starts a thread.
		fd, err := unix.Open("/dev/kmsg", unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			os.Stderr.WriteString(text + "\n")
			return
		}
		file = fd
	}
	record := fmt.Sprintf("<%d>%s\n", facility|int(level), text)
	if _, err := unix.Write(file, []byte(record)); err != nil {
		os.Stderr.WriteString(text + "\n")
	}
}

// clean makes a line printable.
func clean(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\uFFFD' {
			return ' '
		}
		return r
	}, strings.TrimRight(line, "\r\n"))
}
