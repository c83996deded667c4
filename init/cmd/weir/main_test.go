package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/netstack/status"
)

// serve is a forwarder that says s until the test ends.
func serve(t *testing.T, path string, s *status.Status) {
	t.Helper()
	l, err := status.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- status.Serve(ctx, l, func() *status.Status { return s }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args     string
		exit     int
		out, err string // words of each
	}{
		{"", exitUsage, "", "weir status"},
		{"help", exitOK, "Exit status: 0 done", ""},
		{"--help", exitOK, "weir config check", ""},
		{"help status", exitOK, `"forwarder": ...`, ""},
		{"help config", exitOK, "usage: weir config apply [FILE]", ""},
		{"help nonsense", exitUsage, "", `no command "nonsense"`},
		{"status -h", exitOK, "usage: weir status", ""},
		{"status -x", exitUsage, "", "not defined: -x\nusage: weir status"},
		{"status now", exitUsage, "", `"now" is too much`},
		{"config", exitUsage, "", `no command "config"`},
		{"config chekc x", exitUsage, "", `no command "config chekc"`},
		{"config check", exitUsage, "", "an argument is missing"},
		{"config show a b", exitUsage, "", `"b" is too much`},
		{"restart", exitUsage, "", "an argument is missing"},
		{"version", exitOK, "weir devel", ""},
		{"--version", exitOK, "weir ", ""},
		{"version 2", exitUsage, "", "too much"},
		{"\x1b[2J", exitUsage, "", `"\x1b[2J"`},
	} {
		e, out, errs := device(t, nil, nil)
		exit := run(e, strings.Fields(tt.args))
		if exit != tt.exit || !strings.Contains(out.String(), tt.out) || !strings.Contains(errs.String(), tt.err) ||
			(tt.out == "") != (out.Len() == 0) || (tt.err == "") != (errs.Len() == 0) {
			t.Errorf("weir %s: exit %d\nout: %s\nerr: %s", tt.args, exit, out, errs)
		}
	}
}

// Every command has help that a console can show, and is in the overview.
func TestHelp(t *testing.T) {
	for _, c := range commands() {
		if !strings.Contains(overview(), "weir "+c.name) {
			t.Errorf("%s is not in the overview", c.name)
		}
		for _, l := range strings.Split(overview()+c.help(), "\n") {
			if len(l) > width {
				t.Errorf("%s: %d columns: %s", c.name, len(l), l)
			}
		}
	}
}

func TestEnd(t *testing.T) {
	e, _, errs := device(t, nil, nil)
	var asked []string
	e.reboot = func(reason string) error { asked = append(asked, "reboot: "+reason); return nil }
	e.powerOff = func(reason string) error { asked = append(asked, "poweroff: "+reason); return nil }
	e.restart = func(service, reason string) error {
		asked = append(asked, service+": "+reason)
		return errors.New("no such service")
	}
	for args, want := range map[string]int{"reboot": exitOK, "poweroff": exitOK, "restart forwarder": exitFault, "reboot now": exitUsage} {
		if exit := run(e, strings.Fields(args)); exit != want {
			t.Errorf("%s: exit %d", args, exit)
		}
	}
	all := strings.Join(asked, "\n")
	for _, w := range []string{"reboot: weir reboot", "poweroff: weir poweroff", "forwarder: weir restart"} {
		if !strings.Contains(all, w) {
			t.Errorf("not asked: %s in %s", w, all)
		}
	}
	if len(asked) != 3 || !strings.Contains(errs.String(), "weir restart: no such service") {
		t.Errorf("%q, %s", asked, errs)
	}
}

func TestLog(t *testing.T) {
	e, out, errs := device(t, nil, nil)
	if exit := run(e, []string{"log"}); exit != exitFault || !strings.Contains(errs.String(), "kept on the device") {
		t.Errorf("exit %d: %s", exit, errs)
	}
	files := map[string]string{"forwarder.1": "one\ntwo\n", "forwarder": "three\n\x1b[31mfour\n", "dhcp": ""}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(e.logDir, "a-folder"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(e.logDir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args string
		exit int
		want string
	}{
		{"log", exitOK, "dhcp        0 B\nforwarder  24 B\n"},
		{"log forwarder", exitOK, "one\ntwo\nthree\n?[31mfour\n"},
		{"log -n 2 forwarder", exitOK, "three\n?[31mfour\n"},
		{"log -n 0 forwarder", exitOK, "one\ntwo\nthree\n?[31mfour\n"},
		{"log dhcp", exitOK, ""},
		{"log ../boot.json", exitFault, ""},
		{"log a-folder", exitFault, ""},
		{"log -n x forwarder", exitUsage, ""},
	} {
		out.Reset()
		errs.Reset()
		if exit := run(e, strings.Fields(tt.args)); exit != tt.exit || out.String() != tt.want {
			t.Errorf("weir %s: exit %d\n%s%s", tt.args, exit, out, errs)
		}
	}
}
