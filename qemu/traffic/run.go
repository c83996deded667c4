package traffic

import (
	"context"
	"errors"
	"time"
)

// settle is how long nothing may arrive after the last frame was sent before
// the rest is called lost. Emulation on a busy machine stalls for hundreds of
// milliseconds.
const settle = 2 * time.Second

// Run sends the load from one end and checks what arrives at the other. The
// error is about the tester; what the router did wrong is in the Result. When
// ctx ends it stops sending and still tells how what was sent fared.
func Run(ctx context.Context, from, to End, l Load) (*Result, error) {
	return RunProgress(ctx, from, to, l, nil)
}

// RunProgress is Run, and calls progress a few times a second with what has
// arrived so far.
func RunProgress(ctx context.Context, from, to End, l Load, progress func(received int)) (*Result, error) {
	l, err := l.check()
	if err != nil {
		return nil, err
	}
	c := newChecker(l, from, to)
	r, err := startReceiver(c, to)
	if err != nil {
		return nil, err
	}
	type sendEnd struct {
		n    int
		took time.Duration
		err  error
	}
	done := make(chan sendEnd, 1)
	start := time.Now()
	go func() {
		n, err := send(ctx, l, from, to)
		done <- sendEnd{n, time.Since(start), err}
	}()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var s *sendEnd
	for {
		select {
		case e := <-done:
			s, done = &e, nil
		case <-tick.C:
			if progress != nil {
				progress(int(r.got.Load()))
			}
		case err := <-r.end: // the reader failed
			if done != nil {
				<-done
			}
			return nil, err
		}
		if s == nil {
			continue
		}
		quiet := time.Since(time.Unix(0, max(r.last.Load(), start.Add(s.took).UnixNano())))
		// A while after the last frame too: a second copy of it would be a fault.
		if s.err != nil || (int(r.got.Load()) >= s.n && quiet > settle/10) || quiet > settle {
			break
		}
	}
	if err := errors.Join(s.err, r.finish()); err != nil {
		return nil, err
	}
	res := c.result(s.n)
	res.Took = s.took
	return res, nil
}
