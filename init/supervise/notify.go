package supervise

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// notifier is the receiving end of sd_notify(3): a datagram socket whose
// messages are lines NAME=VALUE.
type notifier struct {
	path string
	conn *net.UnixConn
	wg   sync.WaitGroup
}

// listen makes the socket and calls ready once, at the first READY=1.
func listen(path string, ready func()) (*notifier, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the notification socket: %w", err)
	}
	_ = os.Remove(path) // of an earlier life
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("make the notification socket: %w", err)
	}
	n := &notifier{path: path, conn: conn}
	n.wg.Go(func() { n.serve(ready) })
	return n, nil
}

func (n *notifier) serve(ready func()) {
	buf := make([]byte, 4096)
	told := false
	for {
		got, err := n.conn.Read(buf)
		if err != nil {
			return // closed
		}
		if !told && isReady(string(buf[:got])) {
			told = true
			ready()
		}
	}
}

func isReady(message string) bool {
	for line := range strings.Lines(message) {
		if strings.TrimRight(line, "\n") == "READY=1" {
			return true
		}
	}
	return false
}

func (n *notifier) close() {
	n.conn.Close()
	n.wg.Wait()
	_ = os.Remove(n.path)
}
