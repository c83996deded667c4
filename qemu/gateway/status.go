package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"weir/init/report"
	"weir/netstack/status"
)

// Status is what `weir status --json` prints.
type Status struct {
	Boot      *report.Report `json:"boot"`
	Forwarder *status.Status `json:"forwarder"`
	Errors    []string       `json:"errors"`
}

// Status asks the guest.
func (g *Gateway) Status(ctx context.Context) (*Status, error) {
	out, err := g.Agent.Run(ctx, "/bin/weir", "status", "--json")
	if err != nil {
		return nil, err
	}
	var s Status
	if err := json.Unmarshal(out, &s); err != nil {
		return nil, fmt.Errorf("weir status --json: %w\n%s", err, out)
	}
	return &s, nil
}

// WaitStatus asks until ok returns "" (it says what is missing otherwise), or
// ctx ends.
func (g *Gateway) WaitStatus(ctx context.Context, ok func(*Status) string) (*Status, error) {
	for {
		s, err := g.Status(ctx)
		missing := ""
		if err == nil {
			if missing = ok(s); missing == "" {
				return s, nil
			}
		}
		select {
		case <-ctx.Done():
			if err != nil {
				return s, fmt.Errorf("%w: %w", context.Cause(ctx), err)
			}
			return s, fmt.Errorf("%w: %s", context.Cause(ctx), missing)
		case <-g.Ended():
			return s, fmt.Errorf("the guest ended; its console ended with:%s", g.Console.Tail())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Port finds a port of the forwarder's status; an empty one if it has none.
func (s *Status) Port(label string) status.Port {
	if s.Forwarder != nil {
		for _, p := range s.Forwarder.Ports {
			if p.Name == label {
				return p
			}
		}
	}
	return status.Port{Name: label}
}
