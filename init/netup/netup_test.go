package netup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"weir/drivers/port"
	"weir/drivers/port/porttest"
	"weir/init/config"
)

const both = `
[[port]]
match = { mac = "52:54:00:00:00:01" }
label = "lan"
address = ["192.168.1.1/24"]
mtu = 1400
[[port]]
match = { pci = "0000:00:02.0" }
label = "wan"
address = ["203.0.113.2/24"]
forward = false
[[route]]
to = "0.0.0.0/0"
via = "203.0.113.1"
`

func parse(t *testing.T, s string) *config.Config {
	t.Helper()
	cfg, faults := config.Parse("test", []byte(s))
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	return cfg
}

func machine() *porttest.Kernel {
	k := porttest.New()
	k.Add(port.Link{Name: "eth0", MAC: "52:54:00:00:00:01", MTU: 1500, Oper: port.OperUp}, port.Place{Driver: "virtio_net"})
	k.Add(port.Link{Name: "eth1", MAC: "52:54:00:00:00:02", MTU: 1500, Oper: port.OperUp}, port.Place{PCI: "0000:00:02.0"})
	return k
}

// process is a program that sets up the ports of k; state is shared by all.
func process(k *porttest.Kernel, state string) *joint {
	return &joint{setup: port.New(k), place: place{filepath.Join(state, "weir.toml")}}
}

func TestSpecCarriesEverything(t *testing.T) {
	s := Spec(parse(t, both))
	if len(s.Ports) != 2 || len(s.Routes) != 1 {
		t.Fatalf("%+v", s)
	}
	p, q := s.Ports[0], s.Ports[1]
	if p.Label != "lan" || p.Match.MAC != "52:54:00:00:00:01" || p.MTU != 1400 || !p.Forward || len(p.Address) != 1 ||
		q.Match.PCI != "0000:00:02.0" || q.Forward || q.MTU != 0 || s.Routes[0].Via.String() != "203.0.113.1" {
		t.Errorf("%+v", s)
	}
}

func TestApplyTwice(t *testing.T) {
	state := t.TempDir()
	k := machine()
	j := process(k, state)
	ctx := context.Background()
	r, err := j.apply(ctx, parse(t, both))
	if err != nil || len(r.Changes) == 0 {
		t.Fatalf("%q, %v", r.Changes, err)
	}
	if p := r.Ports[0]; p.Label != "lan" || p.Kernel != "eth0" || p.Driver != "virtio_net" || !p.Carrier || p.MTU != 1400 {
		t.Errorf("report: %+v", p)
	}
	if r, err = process(k, state).apply(ctx, parse(t, both)); err != nil || len(r.Changes) != 0 {
		t.Errorf("second: %q, %v", r.Changes, err)
	}
}

// A port that the next configuration has no more is off.
func TestPortGone(t *testing.T) {
	state := t.TempDir()
	k := machine()
	ctx := context.Background()
	if _, err := process(k, state).apply(ctx, parse(t, both)); err != nil {
		t.Fatal(err)
	}
	one := parse(t, strings.Split(both, "[[port]]")[0]+"[[port]]"+strings.Split(both, "[[port]]")[1])
	r, err := process(k, state).apply(ctx, one)
	if err != nil || !slices.Contains(r.Changes, "wan: switched off, since it is no port any more") {
		t.Errorf("%q, %v", r.Changes, err)
	}
	if l, _ := k.Link("wan"); l.Up {
		t.Error("still on")
	}
	if r, err = process(k, state).apply(ctx, one); err != nil || len(r.Changes) != 0 {
		t.Errorf("second: %q, %v", r.Changes, err)
	}
}

// What an operator applies in another process is not undone by the Watch of
// process 1, which still holds the configuration of the boot.
func TestWatchFollowsApply(t *testing.T) {
	state := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		k := machine()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		var last Result
		go func() {
			done <- process(k, state).watch(ctx, parse(t, both), func(r Result, err error) {
				if err != nil {
					t.Error(err)
				}
				last = r
			})
		}()
		settle := func() { time.Sleep(time.Minute); synctest.Wait() }
		settle()
		other := parse(t, strings.ReplaceAll(both, "192.168.1.1", "192.168.9.1"))
		if _, err := process(k, state).apply(ctx, other); err != nil {
			t.Error(err)
		}
		settle()
		lan, _ := k.Link("lan")
		k.Change(lan.Index, func(l *port.Link) { l.Oper = port.OperDown })
		settle()
		if want := []string{"fe80::5054:ff:fe00:2/64", "192.168.9.1/24"}; !reflect.DeepEqual(last.Ports[0].Address, want) {
			t.Errorf("lan has %q", last.Ports[0].Address)
		}
		if last.Ports[0].Carrier {
			t.Error("the loss of carrier went by")
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// A broken state file, or none, leaves the caller's configuration in force.
func TestStateBroken(t *testing.T) {
	dir := t.TempDir()
	p := place{filepath.Join(dir, "weir.toml")}
	cfg := parse(t, both)
	if got := p.get(cfg); got != cfg {
		t.Error("without a file: another configuration")
	}
	if err := os.WriteFile(p.inForce, []byte("[[port"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := p.get(cfg); got != cfg {
		t.Error("with a broken file: another configuration")
	}
	nowhere := place{filepath.Join(dir, "no/such/weir.toml")}
	if err := nowhere.put(cfg); err != nil {
		t.Errorf("without a place for it: %v", err)
	}
	nowhere.lock()()
}

// Rounds of different processes take turns: flock is per open file, so that two
// opens in one process stand for two processes.
func TestLock(t *testing.T) {
	p := place{filepath.Join(t.TempDir(), "weir.toml")}
	unlock := p.lock()
	f, err := os.Open(p.inForce + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		t.Errorf("taken twice: %v", err)
	}
	unlock()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Errorf("not given back: %v", err)
	}
}

// An MTU that is declared no more goes back, once.
func TestMTUBack(t *testing.T) {
	state := t.TempDir()
	k := machine()
	ctx := context.Background()
	without := parse(t, strings.Replace(both, "mtu = 1400\n", "", 1))
	for _, tt := range []struct {
		cfg  *config.Config
		want int
	}{{without, 1500}, {parse(t, both), 1400}, {without, 1500}} {
		if _, err := process(k, state).apply(ctx, tt.cfg); err != nil {
			t.Fatal(err)
		}
		if l, _ := k.Link("lan"); l.MTU != tt.want {
			t.Errorf("mtu %d, want %d", l.MTU, tt.want)
		}
	}
	// By somebody else's hand it stays.
	lan, _ := k.Link("lan")
	k.Change(lan.Index, func(l *port.Link) { l.MTU = 1300 })
	if r, err := process(k, state).apply(ctx, without); err != nil || len(r.Changes) != 0 {
		t.Errorf("%q, %v", r.Changes, err)
	}
}
