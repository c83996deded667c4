package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"weir/board"
	"weir/init/config"
	"weir/init/guard"
	"weir/init/report"
)

const good = "hostname = \"gw\"\n[[port]]\nlabel = \"lan\"\nmatch = { mac = \"52:54:00:00:00:01\" }\n"

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name, data string
		err        error
		reason     string // "" is a good file
	}{
		{name: "good", data: good},
		{name: "missing", err: os.ErrNotExist, reason: "is missing"},
		{name: "unreadable", err: os.ErrPermission, reason: "permission denied"},
		{name: "empty", reason: "is empty"},
		{name: "blank", data: " \n\t\n", reason: "is empty"},
		{name: "no TOML", data: "hostname = \"gw", reason: "/etc/weir.toml:1:"},
		{name: "binary", data: "\x00\xff\xfe", reason: "/etc/weir.toml:1:"},
	} {
		cfg, why := choose([]byte(c.data), c.err)
		if (cfg != nil) != (c.reason == "") || !strings.Contains(strings.Join(why, "\n"), c.reason) {
			t.Errorf("%s: %v, %q", c.name, cfg, why)
		}
	}
}

func TestEveryFaultOfTheFileIsAReason(t *testing.T) {
	_, why := choose([]byte("hostnam = \"gw\"\n"+good+"mtu = \"big\"\n"), nil)
	if len(why) < 2 {
		t.Errorf("%q", why)
	}
}

// Whatever the operator's file is, there is a configuration.
func TestBoardDefaultIsInForce(t *testing.T) {
	for _, mode := range []guard.Mode{guard.Normal, guard.Default} {
		for _, brd := range board.All() {
			b, s := testBoot(t)
			b.mode, b.deaths = mode, 3
			if _, err := os.Stat(config.Path); mode == guard.Normal && !errors.Is(err, os.ErrNotExist) {
				continue // a guest with a configuration of its own
			}
			cfg, err := b.configure(brd)(context.Background())
			r := b.report.Get()
			if err != nil || cfg == nil || r.Config != fromBoard || len(r.Faults) != 1 {
				t.Errorf("%s: %v, %v, %+v", brd.Name, cfg, err, r)
			}
			if !strings.Contains(s.String(), r.Faults[0]) || !strings.Contains(s.String(), "default is in force") {
				t.Errorf("%s: said only:\n%s", brd.Name, s)
			}
		}
	}
}

func TestNoBoardIsAnError(t *testing.T) {
	b, _ := testBoot(t)
	b.mode = guard.Default
	if cfg, err := b.configure(nil)(context.Background()); cfg != nil || err == nil {
		t.Errorf("%v, %v", cfg, err)
	}
}

func TestCompatible(t *testing.T) {
	got := compatible([]byte("ti,am335x-bone-black\x00ti,am33xx\x00"))
	if !slices.Equal(got, []string{"ti,am335x-bone-black", "ti,am33xx"}) || len(compatible(nil)) != 0 {
		t.Errorf("%q", got)
	}
}

func TestForwarderServesEveryPort(t *testing.T) {
	cfg, faults := config.Parse("test", []byte(good+"[[port]]\nlabel = \"wan\"\ntier = \"kernel\"\nmatch = { pci = \"0000:00:01.0\" }\n"))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	s := forwarder(cfg)
	want := []string{forwarderPath, "-port", "lan=auto", "-port", "wan=kernel"}
	if !slices.Equal(s.Argv, want) || !s.Notify || s.OOM != -900 {
		t.Errorf("%+v", s)
	}
}

func TestTable(t *testing.T) {
	text := table(report.Report{
		Version: "1", Board: "b", Kernel: "6.12", Config: "board default", Faults: []string{"x"},
		Steps:    []report.Step{{Name: "modules", StartMS: 1234, TookMS: 567, Errors: []string{"a", "b"}}},
		Ports:    []report.Port{{Label: "lan", Driver: "mvpp2", Address: []string{"192.0.2.1/24"}, Carrier: true}, {Label: "wan", Errors: []string{"not there"}}},
		Services: []report.Service{{Name: "forwarder", PID: 7, Ready: true}, {Name: "x", LastExit: "exit 1"}},
	})
	for _, want := range []string{
		"1 on b, kernel 6.12, configuration: board default\n", "has 1 faults", "modules             1.23 s    0.57 s  2 errors\n",
		"port lan: mvpp2 192.0.2.1/24, carrier\n", "port wan: not found, not there\n", "service forwarder: ready\n",
		"service x: not running: exit 1\n", "random numbers: ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}
