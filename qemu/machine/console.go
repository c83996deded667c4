package machine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// tail is how many of the last console lines an error shows.
const tail = 15

// Console follows a guest's serial console line by line.
type Console struct {
	mu      sync.Mutex
	lines   []string
	part    []byte // the line that has no end yet
	last    time.Time
	changed chan struct{} // closed and replaced whenever something arrives
	ended   bool
}

func newConsole() *Console {
	return &Console{last: time.Now(), changed: make(chan struct{})}
}

func (c *Console) follow(r io.Reader, copyTo io.Writer) {
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		if copyTo != nil && n > 0 {
			copyTo.Write(buf[:n])
		}
		c.add(buf[:n], err != nil)
		if err != nil {
			return
		}
	}
}

func (c *Console) add(b []byte, ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.part = append(c.part, b...)
	for {
		i := bytes.IndexByte(c.part, '\n')
		if i < 0 {
			break
		}
		c.lines = append(c.lines, strings.TrimRight(string(c.part[:i]), "\r"))
		c.part = c.part[i+1:]
	}
	c.last, c.ended = time.Now(), ended
	close(c.changed)
	c.changed = make(chan struct{})
}

// Lines returns the lines from number `from` on, complete ones only.
func (c *Console) Lines(from int) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.lines[min(from, len(c.lines)):]...)
}

// Tail is the end of the console, for an error message.
func (c *Console) Tail() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lines[max(0, len(c.lines)-tail):]
	var b strings.Builder
	for _, s := range l {
		fmt.Fprintf(&b, "\n    | %s", s)
	}
	if len(c.part) > 0 {
		fmt.Fprintf(&b, "\n    | %s", c.part)
	}
	if b.Len() == 0 {
		return " (nothing)"
	}
	return b.String()
}

// wait calls each with every line from number `from` on until it returns true,
// and returns the number after that line. An end of the console, a panic of the
// guest, `silence` without a byte and the context's end are errors.
func (c *Console) wait(ctx context.Context, from int, silence time.Duration, each func(line string) bool) (int, error) {
	for {
		c.mu.Lock()
		todo := c.lines[min(from, len(c.lines)):]
		last, changed, ended := c.last, c.changed, c.ended
		c.mu.Unlock()
		for _, l := range todo {
			from++
			if each(l) {
				return from, nil
			}
			if strings.Contains(l, "Kernel panic - not syncing") {
				return from, fmt.Errorf("the guest panicked: %s\nits console ended with:%s", l, c.Tail())
			}
		}
		if ended {
			return from, fmt.Errorf("the guest ended; its console ended with:%s", c.Tail())
		}
		t := time.NewTimer(time.Until(last.Add(silence)))
		select {
		case <-changed:
		case <-t.C:
			c.mu.Lock()
			quiet := c.last.Equal(last)
			c.mu.Unlock()
			if quiet {
				return from, fmt.Errorf("the guest has been silent for %v; its console ended with:%s", silence, c.Tail())
			}
		case <-ctx.Done():
			t.Stop()
			return from, fmt.Errorf("%w; the guest's console ended with:%s", context.Cause(ctx), c.Tail())
		}
		t.Stop()
	}
}
