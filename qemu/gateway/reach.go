package gateway

import (
	"context"
	"fmt"
	"time"
)

// WaitReachable waits until the client reaches the server by both families. A
// gateway that has just come up still looks for duplicates of its IPv6
// addresses (RFC 4862, one to two seconds), and answers for none until then.
func (g *Gateway) WaitReachable(ctx context.Context) error {
	const limit = 30 * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not within %v", limit))
	defer cancel()
	for _, a := range g.Lab.Server.Addr {
		for {
			_, err := g.Lab.Client.Run(ctx, "ping", "-n", "-c", "1", "-W", "1", a.Addr().String())
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				return fmt.Errorf("the client does not reach the server: %w", err)
			}
		}
	}
	return nil
}
