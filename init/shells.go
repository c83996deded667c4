package main

import (
	"errors"
	"strings"
	"sync"
	"time"

	"weir/board"
	"weir/init/cmdline"
	"weir/init/console"
	"weir/init/kmsg"
	"weir/init/supervise"
)

// shells returns what starts a shell on each of the board's consoles: to be
// called when the boot is done, so that a prompt is the last line. A boot that
// is not done after limit gets its shells all the same. Without a board the
// kernel's own console gets one.
func (b *boot) shells(brd *board.Board, line cmdline.Line, limit time.Duration) func() {
	ttys := []string{"console"}
	if brd != nil {
		ttys = brd.Consoles
	}
	if line.Has(onlyKey) {
		ttys = nil
	}
	var mu sync.Mutex
	started := map[string]bool{}
	start := func() {
		mu.Lock()
		defer mu.Unlock()
		for _, t := range ttys {
			// A board names all consoles it may have, and a driver may bring one late.
			if started[t] || !exists("/dev", t) {
				continue
			}
			started[t] = true
			if err := b.startShell(t); err != nil {
				kmsg.Errorf("weir: shell on %s: %v", t, err)
			}
		}
	}
	late := time.AfterFunc(limit, func() {
		kmsg.Errorf("weir: the boot takes long: shells start before it is done")
		start()
	})
	return func() {
		late.Stop()
		start()
	}
}

func (b *boot) startShell(tty string) error {
	argv := console.Shell()
	if argv == nil {
		return errors.New("there is none in the image: tried " + strings.Join(console.Shells, ", "))
	}
	_, err := b.super.Start(supervise.Service{
		Name: "shell-" + tty, Argv: argv, Env: console.Env(tty), TTY: "/dev/" + tty, Quiet: true,
		StopWithin: 200 * time.Millisecond, // an interactive shell ignores SIGTERM, and has nothing to save
	})
	return err
}
