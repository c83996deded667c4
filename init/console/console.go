package console

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Shells are the shells an image may have, the best first.
var Shells = []string{"/bbin/gosh", "/bin/gosh", "/bin/sh"}

// Shell is the command line of the first of Shells that is there, or nil.
func Shell() []string {
	for _, s := range Shells {
		if _, err := os.Stat(s); err == nil {
			return []string{s}
		}
	}
	return nil
}

// Welcome is what a shell's user reads first.
const Welcome = "\r\nWeir on %s. Type `weir status` for the state, `weir poweroff` or `weir reboot` to end.\r\n"

// Env is the environment of a shell on a terminal: a serial line is a vt102 and
// has no size, so programs get one that fits most windows.
func Env(tty string) []string {
	term := "vt102"
	if strings.HasPrefix(tty, "tty") && len(tty) > 3 && tty[3] >= '0' && tty[3] <= '9' {
		term = "linux"
	}
	return []string{"TERM=" + term, "HOME=/root"}
}

// Prepare puts the terminal fd into the state that a shell expects, whatever the
// last program left it in, and writes the welcome. Nothing waits for a reader.
func Prepare(fd int, name string) {
	if t, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
		sane(t)
		_ = unix.IoctlSetTermios(fd, unix.TCSETS, t)
	}
	_, _ = unix.Write(fd, fmt.Appendf(nil, Welcome, name))
}

// sane sets what `stty sane` sets, except the speed.
func sane(t *unix.Termios) {
	t.Iflag = unix.BRKINT | unix.ICRNL | unix.IXON | unix.IMAXBEL | unix.IUTF8
	t.Oflag = unix.OPOST | unix.ONLCR
	t.Lflag = unix.ISIG | unix.ICANON | unix.IEXTEN | unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ECHOCTL | unix.ECHOKE
	t.Cflag = t.Cflag&^(unix.CSIZE|unix.PARENB|unix.CSTOPB) | unix.CS8 | unix.CREAD | unix.HUPCL
	for i, c := range map[int]byte{
		unix.VINTR: 3, unix.VQUIT: 28, unix.VERASE: 127, unix.VKILL: 21, unix.VEOF: 4, unix.VSTART: 17, unix.VSTOP: 19,
		unix.VSUSP: 26, unix.VREPRINT: 18, unix.VWERASE: 23, unix.VLNEXT: 22, unix.VDISCARD: 15, unix.VMIN: 1, unix.VTIME: 0,
	} {
		t.Cc[i] = c
	}
}
