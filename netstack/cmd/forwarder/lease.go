package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	// leaseTime is how long the steering programs go on without a sign of life: the
	// longest time that traffic is lost if all of this process hangs.
	leaseTime = time.Second
	// leaseRenew is the beat: a few renewals may be late on a busy machine.
	leaseRenew = 200 * time.Millisecond
	// leaseStuck is how long a worker may show no round. It makes one every 100 ms
	// at least.
	leaseStuck = 800 * time.Millisecond
)

// beater is a worker as the keeper sees it: a count that moves while it lives.
type beater interface{ Beat() uint64 }

// keeper renews the lease as long as every worker makes rounds. The kernel
// takes over when one does not: better all traffic slower than some of it lost.
type keeper struct {
	renew   func(time.Duration) error
	workers []beater
	beats   []uint64
	since   []time.Time
	log     *slog.Logger
	stuck   bool
	held    atomic.Bool // the lease was renewed at the last tick
}

// tick looks at the workers once, at time now.
func (k *keeper) tick(now time.Time) {
	if k.beats == nil {
		k.beats, k.since = make([]uint64, len(k.workers)), make([]time.Time, len(k.workers))
	}
	stuck := -1
	for i, w := range k.workers {
		if b := w.Beat(); b != k.beats[i] || k.since[i].IsZero() {
			k.beats[i], k.since[i] = b, now
		} else if now.Sub(k.since[i]) > leaseStuck {
			stuck = i
		}
	}
	if stuck >= 0 {
		if !k.stuck {
			k.log.Error("worker makes no rounds: the kernel forwards until it does", "worker", stuck)
		}
		k.stuck = true
		k.held.Store(false)
		return
	}
	if k.stuck {
		k.log.Info("workers are back")
	}
	k.stuck = false
	err := k.renew(leaseTime)
	if err != nil {
		k.log.Error("cannot renew the lease", "err", err)
	}
	k.held.Store(err == nil)
}

// run ticks until the context ends.
func (k *keeper) run(ctx context.Context) {
	t := time.NewTicker(leaseRenew)
	defer t.Stop()
	for {
		k.tick(time.Now())
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}
