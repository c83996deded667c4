package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Serve is the guest's half: it greets, then runs every request that comes over
// rw, each on its own goroutine, until reading fails.
func Serve(rw io.ReadWriter) error {
	var mu sync.Mutex
	send := func(r Response) {
		b, _ := json.Marshal(r) // a Response always marshals
		mu.Lock()
		defer mu.Unlock()
		rw.Write(append(b, '\n')) // a host that is gone shows in the next read
	}
	send(Response{})
	in := bufio.NewReader(rw)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		var q Request
		if err := json.Unmarshal(line, &q); err != nil {
			return fmt.Errorf("request %q: %w", line, err)
		}
		go func() { send(run(q)) }()
	}
}

func run(q Request) Response {
	if len(q.Argv) == 0 {
		return Response{ID: q.ID, Exit: -1, Error: "no program named"}
	}
	if q.Timeout == 0 {
		q.Timeout = time.Minute
	}
	ctx, cancel := context.WithTimeout(context.Background(), q.Timeout)
	defer cancel()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, q.Argv[0], q.Argv[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.Dir, cmd.Env = q.Dir, append(os.Environ(), q.Env...)
	cmd.WaitDelay = time.Second // a grandchild may keep the pipes open
	err := cmd.Run()
	r := Response{ID: q.ID, Stdout: out.Bytes(), Stderr: errOut.Bytes()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		r.Exit, r.Error = -1, fmt.Sprintf("killed after %v", q.Timeout)
	case errors.As(err, &exit):
		if r.Exit = exit.ExitCode(); r.Exit < 0 {
			r.Error = exit.String()
		}
	case err != nil:
		r.Exit, r.Error = -1, err.Error()
	}
	return r
}
