package main

import (
	"log/slog"
	"testing"
	"time"
)

type beats uint64

func (b *beats) Beat() uint64 { return uint64(*b) }

// The lease is renewed while every worker beats, not when one has stopped for
// longer than leaseStuck, and again when it is back.
func TestLeaseNeedsEveryWorker(t *testing.T) {
	var a, b beats
	renewed := 0
	k := &keeper{workers: []beater{&a, &b}, log: slog.New(slog.DiscardHandler),
		renew: func(d time.Duration) error { renewed++; return nil }}
	now := time.Unix(1000, 0)
	tick := func(d time.Duration) int {
		now, renewed = now.Add(d), 0
		k.tick(now)
		return renewed
	}
	for range 10 {
		a++
		b++
		if tick(leaseRenew) != 1 || !k.held.Load() {
			t.Fatal("not renewed although both beat")
		}
	}
	a++ // b is stuck from here on
	if tick(leaseStuck-time.Millisecond) != 1 {
		t.Error("a short pause ends the lease")
	}
	a++
	if tick(2*time.Millisecond) != 0 || k.held.Load() {
		t.Error("renewed although a worker is stuck")
	}
	a++
	b++
	if tick(leaseRenew) != 1 || !k.held.Load() {
		t.Error("not renewed when the worker is back")
	}
}
