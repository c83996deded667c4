package guesttest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"weir/qemu/gateway"
	"weir/qemu/traffic"
)

// forwarderKilled: killed with -9 under load, the kernel goes on within a
// second, no link goes down, and the next forwarder takes the program over.
func forwarderKilled(ctx context.Context, e *env) error {
	before, err := e.settled(ctx)
	if err != nil {
		return err
	}
	changes, err := e.carrierChanges(ctx)
	if err != nil {
		return err
	}
	const rate = 1000
	type end struct {
		r   *traffic.Result
		err error
	}
	done := make(chan end, 1)
	// A few frames have to have gone through before the kill.
	flowing := make(chan struct{})
	go func() {
		var once bool
		r, err := traffic.RunProgress(ctx, gateway.End(e.client), gateway.End(e.server),
			traffic.Load{Seed: seed + e.loads.Add(1), Flows: 100, Frames: 8 * rate, Rate: rate}, func(n int) {
				if n > rate && !once {
					once = true
					close(flowing)
				}
			})
		done <- end{r, err}
	}()
	select {
	case <-flowing:
	case d := <-done:
		return fmt.Errorf("the load ended before the kill: %v: %v", d.r, d.err)
	}
	pid := strconv.Itoa(before.Forwarder.PID)
	if err := e.Tool(ctx, "kill", pid); err != nil {
		<-done
		return err
	}
	d := <-done
	if d.err != nil {
		return d.err
	}
	e.log("%s; longest gap %v", d.r, d.r.LongestGap.Round(time.Millisecond))
	if d.r.LongestGap > time.Second || d.r.Lost > rate {
		return fmt.Errorf("forwarding stopped for %v: %w", d.r.LongestGap, d.r.Err())
	}
	if n := d.r.Corrupted + d.r.BadChecksum + d.r.WrongTTL + d.r.WrongMAC + d.r.Duplicated; n > 0 {
		return fmt.Errorf("the kernel took over wrongly: %w", d.r.Err())
	}
	after, err := e.settled(ctx)
	if err != nil {
		return err
	}
	if after.Forwarder.PID == before.Forwarder.PID || !after.Forwarder.XDP.TookOver {
		return fmt.Errorf("process %d before, %d after the kill; took over the program: %v",
			before.Forwarder.PID, after.Forwarder.PID, after.Forwarder.XDP.TookOver)
	}
	now, err := e.carrierChanges(ctx)
	if err != nil {
		return err
	}
	if now != changes {
		return fmt.Errorf("links went down: carrier changes were %s, are %s", changes, now)
	}
	s, err := e.load(ctx, traffic.Load{Flows: 50, Frames: 1000, Rate: 1000})
	if err != nil {
		return err
	}
	return s.throughWorkers()
}

func (e *env) carrierChanges(ctx context.Context) (string, error) {
	var all []string
	for _, p := range []string{"lan", "wan"} {
		out, err := e.Agent.Run(ctx, "/bin/cat", "/sys/class/net/"+p+"/carrier_changes")
		if err != nil {
			return "", err
		}
		all = append(all, p+" "+strings.TrimSpace(string(out)))
	}
	return strings.Join(all, ", "), nil
}
