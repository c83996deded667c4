package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Errors that callers tell apart.
var (
	// ErrGone: the server has no such file (404 or 410).
	ErrGone = errors.New("not on the server")
	// ErrUnreachable: no answer, or no useful one.
	ErrUnreachable = errors.New("cannot be reached")
	// ErrUntrusted: a signature or a hash is missing or wrong.
	ErrUntrusted = errors.New("not to be trusted")
)

// Client reads one archive.
type Client struct {
	// Base is the archive's URL, the folder that has dists and pool.
	Base string
	HTTP *http.Client
	// Pause is the wait before a download is tried again, longer each time.
	Pause time.Duration
}

// New is a client of the archive at base, without a slash at the end.
func New(base string) *Client {
	// Neither a download nor a mirror has a known speed, so no time limit on the
	// whole: the dialer and the header have one, the body has stallAfter.
	tr := http.DefaultTransport.(*http.Transport).Clone()
	tr.DialContext = (&net.Dialer{Timeout: 20 * time.Second}).DialContext
	tr.ResponseHeaderTimeout = 60 * time.Second
	return &Client{Base: base, HTTP: &http.Client{Transport: tr}, Pause: time.Second}
}

// stallAfter ends a download that has brought no byte for so long.
const stallAfter = 60 * time.Second

// attempts is how often a download that broke off is begun again.
const attempts = 3

// Fetch writes the file at path below the base to w. A download that breaks off
// goes on where it was. size is the length that it must have, or -1.
func (c *Client) Fetch(ctx context.Context, path string, size int64, w io.Writer) error {
	url := c.Base + "/" + path
	var have int64
	for try := 1; ; try++ {
		n, again, err := c.get(ctx, url, have, size, w)
		have += n
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !again || try == attempts {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(try) * c.Pause):
		}
	}
}

// get asks for the bytes from have on. again says that another try may help.
func (c *Client) get(ctx context.Context, url string, have, size int64, w io.Writer) (n int64, again bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, false, fmt.Errorf("%q is no URL: correct DEBIAN_MIRROR or DEBIAN_SNAPSHOT: %w", url, err)
	}
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		// A connection that was closed under us is worth another try; a mirror that
		// is not there will not be there in a second.
		return 0, errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET), unreachable(url, err)
	}
	defer resp.Body.Close()
	want := http.StatusOK
	if have > 0 {
		want = http.StatusPartialContent
	}
	switch code := resp.StatusCode; {
	case code == want:
	case code == http.StatusNotFound || code == http.StatusGone:
		return 0, false, fmt.Errorf("%s: %w", url, ErrGone)
	case code == http.StatusOK:
		return 0, false, fmt.Errorf("%s broke off after %d bytes and the server cannot go on from there: run again: %w", url, have, ErrUnreachable)
	default:
		return 0, code >= 500, fmt.Errorf("%s answers %q: try another mirror with DEBIAN_MIRROR: %w", url, resp.Status, ErrUnreachable)
	}
	watch := time.AfterFunc(stallAfter, func() { cancel(errors.New("no byte for a minute")) })
	defer watch.Stop()
	body := io.Reader(resp.Body)
	if size >= 0 {
		body = io.LimitReader(body, size-have+1) // one more shows a file that is too long
	}
	out := &writer{w: w, touch: func() { watch.Reset(stallAfter) }}
	n, err = io.Copy(out, body)
	switch {
	case out.err != nil:
		return n, false, out.err // the disk's fault, not the network's
	case err != nil:
		return n, true, unreachable(url, errors.Join(context.Cause(ctx), err))
	case size >= 0 && have+n > size:
		return n, false, fmt.Errorf("%s is longer than the %d bytes it should have: the mirror is out of step, try another: %w", url, size, ErrUntrusted)
	case size >= 0 && have+n < size:
		return n, true, fmt.Errorf("%s ended after %d of %d bytes: run again, or try another mirror with DEBIAN_MIRROR: %w", url, have+n, size, ErrUnreachable)
	}
	return n, false, nil
}

func unreachable(url string, err error) error {
	return fmt.Errorf("%s %w: check the network and the proxy, or set DEBIAN_MIRROR to another mirror: %w", url, ErrUnreachable, err)
}

// writer notes progress, and keeps its own errors apart from the reader's.
type writer struct {
	w     io.Writer
	touch func()
	err   error
}

func (w *writer) Write(p []byte) (int, error) {
	w.touch()
	n, err := w.w.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}
