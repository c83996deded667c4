package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Client is the host's half.
type Client struct {
	w     io.Writer
	ready chan struct{}

	mu   sync.Mutex
	last uint64
	open map[uint64]chan Response
	err  error
	done chan struct{} // closed when reading ended, err says why
}

// NewClient starts to read from rw. It ends when reading fails.
func NewClient(rw io.ReadWriter) *Client {
	c := &Client{w: rw, ready: make(chan struct{}), open: map[uint64]chan Response{}, done: make(chan struct{})}
	go c.read(rw)
	return c
}

func (c *Client) read(r io.Reader) {
	in := bufio.NewReader(r)
	var err error
	greeted := false
	for {
		var line []byte
		if line, err = in.ReadBytes('\n'); err != nil {
			break
		}
		var a Response
		if err = json.Unmarshal(line, &a); err != nil {
			err = fmt.Errorf("response %q: %w", line, err)
			break
		}
		c.mu.Lock()
		ch := c.open[a.ID]
		delete(c.open, a.ID)
		c.mu.Unlock()
		if a.ID == 0 && !greeted {
			greeted = true
			close(c.ready)
		}
		if ch != nil {
			ch <- a // has room for its one response
		}
	}
	c.mu.Lock()
	c.err = fmt.Errorf("the guest's agent is gone: %w", err)
	c.mu.Unlock()
	close(c.done)
}

// Ready waits for the guest's greeting.
func (c *Client) Ready(ctx context.Context) error {
	select {
	case <-c.ready:
		return nil
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return fmt.Errorf("waiting for the guest's agent: %w", context.Cause(ctx))
	}
}

// Do runs a request and returns what it gave. The error is about the way
// there, or a program that could not be started or was killed; an exit status
// other than 0 is none.
func (c *Client) Do(ctx context.Context, q Request) (Response, error) {
	ch := make(chan Response, 1)
	c.mu.Lock()
	c.last++
	q.ID = c.last
	c.open[q.ID] = ch
	b, err := json.Marshal(q)
	if err == nil {
		_, err = c.w.Write(append(b, '\n'))
	}
	c.mu.Unlock()
	what := strings.Join(q.Argv, " ")
	if err != nil {
		return Response{}, fmt.Errorf("ask the guest to run %q: %w", what, err)
	}
	select {
	case r := <-ch:
		if r.Error != "" {
			return r, fmt.Errorf("in the guest, %q: %s", what, r.Error)
		}
		return r, nil
	case <-c.done:
		return Response{}, fmt.Errorf("while the guest ran %q: %w", what, c.err)
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.open, q.ID)
		c.mu.Unlock()
		return Response{}, fmt.Errorf("while the guest ran %q: %w", what, context.Cause(ctx))
	}
}

// Run runs a program and returns its standard output; an exit status other
// than 0 is an error that shows what it printed.
func (c *Client) Run(ctx context.Context, argv ...string) ([]byte, error) {
	r, err := c.Do(ctx, Request{Argv: argv})
	if err != nil {
		return r.Stdout, err
	}
	if r.Exit != 0 {
		return r.Stdout, fmt.Errorf("in the guest, %q: exit status %d: %s%s",
			strings.Join(argv, " "), r.Exit, r.Stdout, r.Stderr)
	}
	return r.Stdout, nil
}
