package main

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"weir/init/clock"
	"weir/init/console"
	"weir/init/guard"
	"weir/init/kmsg"
	"weir/init/report"
	"weir/init/supervise"
	"weir/internal/version"
)

// runDir is where init and its services keep what lives until the next boot.
const runDir = "/run/weir"

// logSize bounds each of a service's two log files: /run is memory.
const logSize = 128 << 10

// boot is the state of the worker. Steps get what they need as arguments and
// return what they make; what is here may be used by all, concurrently.
type boot struct {
	mode   guard.Mode
	deaths int
	report *report.Writer
	lost   complainOnce // the report could not be written
	super  *supervise.Supervisor
	logs   *supervise.Logs
	ends   chan end
}

func newBoot() *boot {
	b := &boot{report: report.NewWriter(report.Path), ends: make(chan end, 4)}
	b.deaths, _ = strconv.Atoi(os.Getenv(guard.StartsEnv))
	b.mode = guard.ModeAfter(b.deaths)
	b.logs = &supervise.Logs{Dir: runDir + "/log", Size: logSize, Console: func(l string) { kmsg.Infof("%s", l) }}
	b.super = supervise.New(supervise.Options{
		Runner:  &supervise.OS{Dir: runDir + "/notify", Cgroup: "/sys/fs/cgroup/weir", Output: b.logs.Line, Prepare: welcome},
		Log:     func(service, text string) { kmsg.Errorf("weir: %s %s", service, text) },
		Changed: func(all []report.Service) { b.update(func(r *report.Report) { r.Services = all }) },
	})
	kmsg.Infof("weir: %s starts", version.Version)
	if b.deaths > 0 {
		kmsg.Errorf("weir: this is start %d: the last one ended: %s", b.deaths+1, os.Getenv(guard.DeathEnv))
	}
	os.Unsetenv(guard.StartsEnv)
	os.Unsetenv(guard.DeathEnv)
	// Set by the kernel or nothing; programs are found where the image has them.
	os.Setenv("PATH", "/bin:/bbin:/sbin:/usr/bin")
	os.Setenv("HOME", "/")
	return b
}

// welcome readies a terminal for a shell.
func welcome(fd int, svc supervise.Service) {
	if svc.Once {
		return // a test run has the console as it is
	}
	name, _ := os.Hostname()
	console.Prepare(fd, name)
}

// update changes the report. That it cannot be written is said once: /run may
// be full, and the boot goes on.
func (b *boot) update(change func(*report.Report)) {
	b.lost.say(b.report.Update(func(r *report.Report) {
		r.Version, r.Kernel = version.Version, uname().release
		change(r)
	}))
}

// kernel is what uname(2) tells.
type kernel struct{ release, version string }

func uname() kernel {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return kernel{}
	}
	return kernel{unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Version[:])}
}

// finish says how the boot went.
func (b *boot) finish() {
	b.update(func(r *report.Report) { r.Done = true })
	for l := range strings.Lines(table(b.report.Get())) {
		kmsg.Infof("weir: %s", l)
	}
	kmsg.Logf(kmsg.Warning, "weir: up in %.1f s", clock.SinceBoot().Seconds())
}
