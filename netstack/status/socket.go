package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"
)

// timeout bounds one exchange, so that a stuck peer holds nothing.
const timeout = 5 * time.Second

// maxDocument bounds what Read takes: a status of 64 ports of 64 queues is far
// smaller.
const maxDocument = 16 << 20

// ErrInUse: a living forwarder has the socket.
var ErrInUse = errors.New("another forwarder listens there")

// Listen opens the Unix socket path. A socket file that a dead process left is
// replaced; that of a living one, and any other file, is left alone.
func Listen(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("status socket: %w", err)
	}
	if err := makeWay(path); err != nil {
		return nil, fmt.Errorf("status socket %s: %w", path, err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("status socket: %w", err)
	}
	return l, nil
}

// makeWay removes a dead socket file.
func makeWay(path string) error {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != os.ModeSocket:
		return errors.New("it is a file of another kind: remove it, or name another socket")
	}
	if c, err := net.DialTimeout("unix", path, timeout); err == nil {
		c.Close()
		return fmt.Errorf("%w: stop it first, or name another socket", ErrInUse)
	}
	return os.Remove(path)
}

// Serve answers every connection with what get returns, until the context ends,
// and closes the listener.
func Serve(ctx context.Context, l net.Listener, get func() *Status) error {
	defer l.Close()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	for {
		c, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("status socket: %w", err)
		}
		answer(c, get())
	}
}

// answer writes one document. A peer that went away is its own loss.
func answer(c net.Conn, s *Status) {
	defer c.Close()
	if c.SetDeadline(time.Now().Add(timeout)) == nil {
		_ = json.NewEncoder(c).Encode(s)
	}
}

// Read asks the forwarder that listens on path.
func Read(path string) (*Status, error) {
	c, err := net.DialTimeout("unix", path, timeout)
	if err != nil {
		return nil, fmt.Errorf("ask the forwarder: %w: is it running?", err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(timeout)); err != nil {
		return nil, fmt.Errorf("ask the forwarder: %w", err)
	}
	var s Status
	if err := json.NewDecoder(io.LimitReader(c, maxDocument)).Decode(&s); err != nil {
		return nil, fmt.Errorf("the forwarder's answer on %s: %w", path, err)
	}
	return &s, nil
}
