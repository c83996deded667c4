package netup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"weir/init/config"
)

// InForce holds the configuration that Apply was last called with, in canonical
// form. Watch follows it: what `weir config apply` does in its own process is
// not undone by the Watch of PID 1.
const InForce = "/run/weir/weir.toml"

// patience is how long a round waits for another process's. Ports are set up in
// a fraction of it; after it, the other one hangs and the round goes ahead.
const patience = 30 * time.Second

// place is where the state lies; tests have their own.
type place struct{ inForce string }

// usable says whether there is a place for the state at all: PID 1 makes it.
func (p place) usable() bool {
	fi, err := os.Stat(filepath.Dir(p.inForce))
	return err == nil && fi.IsDir()
}

// lock keeps two processes from setting up ports at the same time.
func (p place) lock() (unlock func()) {
	if !p.usable() {
		return func() {}
	}
	f, err := os.OpenFile(p.inForce+".lock", os.O_RDWR|os.O_CREATE|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return func() {}
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	return func() { f.Close() }
}

// put makes cfg the one in force, whole or not at all.
func (p place) put(cfg *config.Config) error {
	if !p.usable() {
		return nil
	}
	tmp := p.inForce + ".new"
	if err := os.WriteFile(tmp, config.Encode(cfg), 0o644); err != nil {
		return fmt.Errorf("note the configuration in force: %w", err)
	}
	if err := os.Rename(tmp, p.inForce); err != nil {
		return fmt.Errorf("note the configuration in force: %w", err)
	}
	return nil
}

// get returns the configuration in force, or cfg if there is none.
func (p place) get(cfg *config.Config) *config.Config {
	data, err := os.ReadFile(p.inForce)
	if err != nil {
		return cfg
	}
	if c, faults := config.Parse(p.inForce, data); len(faults) == 0 {
		return c
	}
	return cfg
}
