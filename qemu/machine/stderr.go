package machine

import (
	"strings"
	"sync"
)

// tailWriter keeps what QEMU complains about, for the error when it ends.
type tailWriter struct {
	mu    sync.Mutex
	lines []string
}

func (t *tailWriter) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for l := range strings.Lines(string(b)) {
		l = strings.TrimSpace(l)
		// QEMU has no eBPF for a tap that it did not open, says so, and hashes in
		// software: that is what we want.
		if l != "" && !strings.Contains(l, "RSS") && !strings.Contains(l, "libbpf:") && len(t.lines) < tail {
			t.lines = append(t.lines, l)
		}
	}
	return len(b), nil
}

func (t *tailWriter) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n    | ")
}
