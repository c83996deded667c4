package guesttest

import (
	"context"
	"time"
)

// retry calls f until it succeeds, five times at most: a server that has just
// been started may not listen yet.
func retry(ctx context.Context, f func() error) (err error) {
	for range 5 {
		if err = f(); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(300 * time.Millisecond):
		}
	}
	return err
}
