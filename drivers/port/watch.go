package port

import (
	"context"
	"fmt"
	"reflect"
	"time"
)

const (
	// settle is how long links must be quiet before another round: a driver that
	// comes up sends half a dozen events.
	settle = 100 * time.Millisecond
	// duplicates is when duplicate address detection must be over: one probe a
	// second (RFC 4862 section 5.1), after a random delay of up to one.
	duplicates = 3 * time.Second
	// slowest is how far rounds move apart while each makes events and mends
	// nothing, such as a driver that resets the link when it refuses an MTU.
	slowest = 30 * time.Second
)

// Watch applies a Spec now and each time a link comes, goes, changes its name or
// gets or loses its carrier, until ctx ends: ports that appear late are brought
// up, and routes that went with a carrier come back. It calls on after the
// first round and after each that brought something new, in the caller's
// goroutine. Before each round begin gives the Spec, and what to call after it.
// It returns ctx.Err().
func (s *Setup) Watch(ctx context.Context, begin func() (Spec, func()), on func(Result, error)) error {
	var last Result
	var lastErr string
	first, again := true, true
	pause := settle
	for {
		// Subscribed before the round, so that nothing between them is missed.
		sub, stop := context.WithCancel(ctx)
		events, err := s.k.Subscribe(sub)
		if err != nil {
			stop()
			return fmt.Errorf("listening for link changes: %w", err)
		}
		for open := true; open && ctx.Err() == nil; {
			spec, end := begin()
			res, err := s.apply(ctx, spec, again)
			end()
			text := ""
			if err != nil {
				text = err.Error()
			}
			news := first || len(res.Changes) > 0 || text != lastErr || !reflect.DeepEqual(res.Ports, last.Ports)
			if ctx.Err() == nil && news {
				on(res, err)
			}
			if err != nil && !first && text == lastErr {
				pause = min(2*pause, slowest)
			} else {
				pause = settle
			}
			first, last, lastErr = false, res, text

			var look <-chan time.Time
			if res.tentative && again {
				look = time.After(duplicates)
			}
			select {
			case <-ctx.Done():
			case <-look:
				again = false // once, and what failed is not tried anew by itself
				continue
			case _, open = <-events:
				again = true
				open = quiet(ctx, events, pause) && open
			}
		}
		stop()
		select { // the events ended: start over, but not in a tight loop
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// quiet lets the events of a pause's length pass as one; false means that they
// ended.
func quiet(ctx context.Context, events <-chan struct{}, pause time.Duration) bool {
	for t := time.After(pause); ; {
		select {
		case <-ctx.Done():
			return false
		case <-t:
			return true
		case _, ok := <-events:
			if !ok {
				return false
			}
		}
	}
}
