package port_test

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"weir/drivers/port"
	"weir/internal/testenv"
)

// until waits for a condition that another thread or the kernel brings about.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out: %s", what)
		}
	}
}

// In a real kernel: a port that is plugged in while Watch listens comes up,
// loses and gets its carrier, and is unplugged.
func TestLinuxWatch(t *testing.T) {
	testenv.Namespace(t)
	pair(t, "a0", "52:54:00:00:01:01", "a1", "52:54:00:00:01:02")
	spec := twoPorts()
	ns, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	results := make(chan port.Result, 100)
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- err
			return
		}
		done <- port.New(port.Linux{}).Watch(ctx, func() (port.Spec, func()) { return spec, func() {} }, func(r port.Result, _ error) { results <- r })
	}()
	var last port.Result
	next := func(what string, cond func() bool) {
		t.Helper()
		until(t, what, func() bool {
			for len(results) > 0 {
				last = <-results
			}
			select {
			case err := <-done:
				t.Fatalf("Watch ended: %v", err)
			default:
			}
			return len(last.Ports) == 2 && cond()
		})
	}
	next("lan comes up without wan", func() bool { return last.Ports[0].Carrier && len(last.Ports[1].Errors) > 0 })

	pair(t, "b0", "52:54:00:00:02:01", "b1", "52:54:00:00:02:02")
	next("wan comes up", func() bool { return last.Ports[1].Carrier && len(last.Ports[1].Errors) == 0 })
	if routes, err := (port.Linux{}).Routes(); err != nil || len(routes) != 6 {
		t.Errorf("routes: %v, %v", routes, err)
	}
	b1, err := netlink.LinkByName("b1")
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.LinkSetDown(b1); err != nil {
		t.Fatal(err)
	}
	next("the carrier goes", func() bool { return !last.Ports[1].Carrier })
	if err := netlink.LinkSetUp(b1); err != nil {
		t.Fatal(err)
	}
	next("the carrier is back", func() bool { return last.Ports[1].Carrier })

	if err := netlink.LinkDel(b1); err != nil {
		t.Fatal(err)
	}
	next("wan is gone", func() bool { return last.Ports[1].Kernel == "" && len(last.Ports[1].Errors) > 0 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

// A real kernel's duplicate detection, seen by a later Apply.
func TestLinuxDuplicateAddress(t *testing.T) {
	testenv.Namespace(t)
	pair(t, "a0", "52:54:00:00:01:01", "a1", "52:54:00:00:01:02")
	a1, err := netlink.LinkByName("a1")
	if err != nil {
		t.Fatal(err)
	}
	dup, err := netlink.ParseAddr("2001:db8:1::1/64")
	if err != nil {
		t.Fatal(err)
	}
	dup.Flags = unix.IFA_F_NODAD
	if err := netlink.AddrAdd(a1, dup); err != nil {
		t.Fatal(err)
	}
	spec := port.Spec{Ports: []port.Port{{Label: "lan", Match: port.Match{MAC: "52:54:00:00:01:01"}, Address: prefixes("2001:db8:1::1/64", "2001:db8:1::2/64")}}}
	apply(t, port.New(port.Linux{}), spec)
	until(t, "duplicate detection ends", func() bool {
		addrs, err := port.Linux{}.Addresses()
		return err == nil && slices.ContainsFunc(addrs, func(a port.Address) bool {
			return a.Prefix == netip.MustParsePrefix("2001:db8:1::1/64") && a.DADFailed
		})
	})
	res, err := port.New(port.Linux{}).Apply(context.Background(), spec)
	if err != nil || !slices.Contains(res.Changes, "lan: trying the address 2001:db8:1::1/64 again, which another machine had") {
		t.Errorf("%q, %v", res.Changes, err)
	}
}

// The driver's own limit, from a driver that has one below 65536.
func TestLinuxMTUBeyondDriver(t *testing.T) {
	testenv.Namespace(t)
	la := netlink.NewLinkAttrs()
	la.Name = "t0"
	if err := netlink.LinkAdd(&netlink.Tuntap{LinkAttrs: la, Mode: netlink.TUNTAP_MODE_TAP}); err != nil {
		testenv.Missing(t, "no tap device can be made (%v): run as root with /dev/net/tun", err)
	}
	l, err := netlink.LinkByName("t0")
	if err != nil {
		t.Fatal(err)
	}
	spec := port.Spec{Ports: []port.Port{{Label: "lan", MTU: 65535, Match: port.Match{MAC: l.Attrs().HardwareAddr.String()}}}}
	_, err = port.New(port.Linux{}).Apply(context.Background(), spec)
	if err == nil || !strings.Contains(err.Error(), "can do: use at most 65521; it stays at 1500") {
		t.Errorf("got %v", err)
	}
}
