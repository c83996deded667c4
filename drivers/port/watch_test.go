package port_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"net/netip"

	"golang.org/x/sys/unix"

	"weir/drivers/port"
	"weir/drivers/port/porttest"
)

// news is what a Watch told: its last result, and how often.
type news struct {
	res   port.Result
	err   error
	calls int
}

// watch runs a Watch in a synctest bubble; settle lets it come to rest.
func watch(t *testing.T, k *porttest.Kernel, spec port.Spec) (n *news, settle func()) {
	t.Helper()
	n = &news{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- port.New(k).Watch(ctx, func() (port.Spec, func()) { return spec, func() {} }, func(res port.Result, err error) {
			n.res, n.err = res, err
			n.calls++
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Watch ended with %v", err)
		}
	})
	return n, func() {
		time.Sleep(time.Minute)
		synctest.Wait()
	}
}

// A port that appears after the boot, then gets its carrier, flaps, and comes
// back under another index: at the end of each, it is as declared.
func TestWatchLatePort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := porttest.New()
		k.Add(port.Link{Name: "eth0", MAC: lanMAC, MTU: 1500, Oper: port.OperUp}, port.Place{})
		n, settle := watch(t, k, twoPorts())
		settle()
		complete(t, k, "lan")
		only(t, n.res, n.err, "wan", "no interface has MAC "+wanMAC, "the route to 0.0.0.0/0 waits for it")

		wan := k.Add(port.Link{Name: "eth1", MAC: wanMAC, MTU: 1500, Oper: port.OperDown}, port.Place{})
		settle()
		complete(t, k, "wan")
		if n.err != nil || n.res.Ports[1].Carrier || n.res.Ports[1].Kernel != "eth1" {
			t.Errorf("late port: %+v, %v", n.res.Ports[1], n.err)
		}

		k.Change(wan, func(l *port.Link) { l.Oper = port.OperUp })
		settle()
		if !n.res.Ports[1].Carrier {
			t.Error("the carrier was not told")
		}
		for range 20 { // the cable is wiggled
			k.Change(wan, func(l *port.Link) { l.Oper = port.OperDown })
			time.Sleep(7 * time.Millisecond)
			k.Change(wan, func(l *port.Link) { l.Oper = port.OperUp })
		}
		settle()
		if !n.res.Ports[1].Carrier {
			t.Error("after flapping: no carrier")
		}
		calls := n.calls
		settle()
		if n.calls != calls {
			t.Error("told without news")
		}

		k.Remove(wan)
		settle()
		only(t, n.res, n.err, "wan", "no interface has MAC")
		k.Add(port.Link{Name: "eth7", MAC: wanMAC, MTU: 1500, Oper: port.OperUnknown}, port.Place{}) // a driver that knows no carrier
		settle()
		complete(t, k, "wan")
		if routes, _ := k.Routes(); len(routes) != 6 {
			t.Errorf("%d routes are back", len(routes))
		}
		if p := n.res.Ports[1]; n.err != nil || p.Kernel != "eth7" || !p.Carrier {
			t.Errorf("came back: %+v, %v", p, n.err)
		}
	})
}

// A listener that loses its socket starts over, and misses nothing meanwhile.
func TestWatchLosesEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := twoLinks()
		n, settle := watch(t, k, twoPorts())
		settle()
		lan, _ := k.Link("lan")
		k.Lose()
		k.Change(lan.Index, func(l *port.Link) { l.Oper = port.OperDown })
		settle()
		if n.res.Ports[0].Carrier {
			t.Error("the loss of carrier went by")
		}
	})
}

// A driver that makes an event with each refusal must not keep PID 1 busy.
func TestWatchBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := twoLinks()
		k.Fail = map[string]error{"SetMTU wan": unix.EINVAL}
		wan, _ := k.Link("eth0")
		spec := twoPorts()
		spec.Ports[1].MTU = 9000
		n, settle := watch(t, k, spec)
		settle()
		k.Log()
		for range 3600 { // an event every second for an hour
			k.Change(wan.Index, func(*port.Link) {})
			time.Sleep(time.Second)
		}
		tries := 0
		for _, l := range k.Log() {
			if strings.HasPrefix(l, "SetMTU") {
				tries++
			}
		}
		if tries < 60 || tries > 140 { // every 30 s, and some before it slows down
			t.Errorf("tried %d times in an hour", tries)
		}
		if n.calls > 2 {
			t.Errorf("told %d times", n.calls)
		}
	})
}

// Duplicate detection ends a second or two after the carrier, without an event
// of the link: Watch looks once more, and lets a failure stand.
func TestWatchDuplicateAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := twoLinks()
		dup := netip.MustParsePrefix("2001:db8:1::1/64")
		n, settle := watch(t, k, twoPorts())
		synctest.Wait()
		k.ChangeAddress(dup, func(a *port.Address) { a.Tentative = true })
		lan, _ := k.Link("lan")
		k.Change(lan.Index, func(l *port.Link) { l.MTU = 1399 }) // any event
		time.Sleep(time.Second)
		k.ChangeAddress(dup, func(a *port.Address) { a.DADFailed = true })
		settle()
		only(t, n.res, n.err, "lan", "2001:db8:1::1 is in use by another machine on that cable")
		k.Log()
		settle()
		if log := k.Log(); len(log) > 0 {
			t.Errorf("tried by itself: %q", log)
		}
		// The cable is moved to another network: worth another try.
		k.Change(lan.Index, func(l *port.Link) { l.Oper = port.OperDown })
		settle()
		if log := k.Log(); !slices.Contains(log, "DelAddress lan 2001:db8:1::1/64") {
			t.Errorf("not tried again: %q", log)
		}
	})
}

func TestWatchCannotListen(t *testing.T) {
	k := twoLinks()
	k.Fail = map[string]error{"Subscribe": unix.EMFILE}
	err := port.New(k).Watch(context.Background(), func() (port.Spec, func()) { t.Error("round"); return port.Spec{}, func() {} }, nil)
	if !errors.Is(err, unix.EMFILE) {
		t.Errorf("got %v", err)
	}
}
