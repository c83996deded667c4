package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNotWeir is returned where process 1 is some other system's.
var ErrNotWeir = errors.New("process 1 is not Weir's: this command works on the device")

// client is what the functions work with; tests have another.
type client struct {
	path string
	weir func() bool // is process 1 Weir's?
	kill func(pid int, s unix.Signal) error
}

var system = client{Path, weir, unix.Kill}

// Reboot stops the services and reboots. It returns once that has begun.
func Reboot(reason string) error { return system.end(VerbReboot, reason, unix.SIGTERM) }

// PowerOff stops the services and switches the machine off. It returns once
// that has begun.
func PowerOff(reason string) error { return system.end(VerbPowerOff, reason, unix.SIGUSR2) }

// Restart stops a service and starts it again. It returns once that has begun.
func Restart(service, reason string) error {
	return ask(system.path, Request{Verb: VerbRestart, Service: service, Reason: reason})
}

func (c client) end(verb, reason string, fallback unix.Signal) error {
	err := ask(c.path, Request{Verb: verb, Reason: reason})
	var refused *Refused
	if err == nil || errors.As(err, &refused) {
		return err
	}
	if !c.weir() {
		return fmt.Errorf("%s: %w", verb, ErrNotWeir)
	}
	if kerr := c.kill(1, fallback); kerr != nil {
		return fmt.Errorf("%s: signal process 1: %w", verb, errors.Join(kerr, err))
	}
	return nil
}

// weir tells whether process 1 is Weir's.
func weir() bool {
	exe, err := os.Readlink("/proc/1/exe")
	if err != nil || exe != "/init" {
		return false
	}
	_, err = os.Stat("/etc/weir/board")
	return err == nil
}

// Refused is init's answer to a request that it does not accept.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return "init refused: " + r.Reason }

func ask(path string, req Request) error {
	c, err := net.DialTimeout("unix", path, 2*time.Second)
	if err != nil {
		return fmt.Errorf("speak to init: %w", err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if err := json.NewEncoder(c).Encode(req); err != nil {
		return fmt.Errorf("speak to init: %w", err)
	}
	var reply Reply
	if err := json.NewDecoder(c).Decode(&reply); err != nil {
		return fmt.Errorf("init gave no answer: %w", err)
	}
	if reply.Error != "" {
		return &Refused{reply.Error}
	}
	return nil
}
