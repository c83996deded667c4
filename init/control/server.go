package control

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// maxRequest is more than any request needs.
const maxRequest = 4096

// Server answers requests.
type Server struct {
	l  net.Listener
	wg sync.WaitGroup
}

// Serve makes the socket path and answers its requests with handle, one at a
// time, until Close. handle returns why it refuses a request, or nil.
func Serve(path string, handle func(Request) error) (*Server, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make init's socket: %w", err)
	}
	_ = os.Remove(path) // of an earlier life
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("make init's socket: %w", err)
	}
	// Between the two calls only root could have connected, since nobody else
	// runs yet.
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("make init's socket: %w", err)
	}
	s := &Server{l: l}
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // closed
			}
			answer(c, handle)
		}
	})
	return s, nil
}

// Close stops the server and waits for the request in progress.
func (s *Server) Close() {
	s.l.Close()
	s.wg.Wait()
}

func answer(c net.Conn, handle func(Request) error) {
	defer c.Close()
	// A client that says nothing must not keep others waiting for long.
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	var req Request
	var reply Reply
	if err := json.NewDecoder(io.LimitReader(c, maxRequest)).Decode(&req); err != nil {
		reply.Error = fmt.Sprintf("the request is not readable: %v", err)
	} else if err := handle(req); err != nil {
		reply.Error = err.Error()
	}
	_ = json.NewEncoder(c).Encode(reply)
}
