package archive

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
)

// Release is a suite's table of contents, after its signature was checked.
type Release struct {
	Suite, Codename string
	Date            time.Time
	// Files are the indices by path below the suite's folder.
	Files map[string]File
}

// File is what an archive says about one of its files.
type File struct {
	Size   int64
	SHA256 string
}

// maxRelease bounds an InRelease; Debian's has 140 kB.
const maxRelease = 8 << 20

// Release fetches a suite's InRelease and checks it against the keyring. now is
// the present time, for Valid-Until.
func (c *Client) Release(ctx context.Context, suite string, keys Keyring, now time.Time) (*Release, error) {
	path := "dists/" + suite + "/InRelease"
	var b bytes.Buffer
	if err := c.Fetch(ctx, path, -1, &limited{&b, maxRelease}); err != nil {
		return nil, err
	}
	r, err := parseRelease(b.Bytes(), keys, now)
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", c.Base, path, err)
	}
	if r.Suite != suite && r.Codename != suite {
		return nil, fmt.Errorf("%s/%s: it is the release %s (%s) and not %s: try another mirror: %w", c.Base, path, r.Codename, r.Suite, suite, ErrUntrusted)
	}
	return r, nil
}

func parseRelease(data []byte, keys Keyring, now time.Time) (*Release, error) {
	block, _ := clearsign.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("it is not signed: the answer is not from a Debian archive, try another mirror: %w", ErrUntrusted)
	}
	if _, err := block.VerifySignature(keys, nil); err != nil {
		return nil, fmt.Errorf("its signature is not by a key of the keyring: bring debian-archive-keyring up to date, or try another mirror: %w: %w", ErrUntrusted, err)
	}
	// Plaintext, not Bytes: what was signed has CRLF line ends.
	r := &Release{Files: make(map[string]File)}
	inSums := false
	for line := range strings.Lines(string(block.Plaintext)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, " ") {
			if f := strings.Fields(line); inSums && len(f) == 3 {
				size, err := strconv.ParseInt(f[1], 10, 64)
				if err != nil {
					return nil, fmt.Errorf("line %q has no size: %w", line, err)
				}
				r.Files[f[2]] = File{Size: size, SHA256: f[0]}
			}
			continue
		}
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		inSums = key == "SHA256"
		if err := r.field(key, value, now); err != nil {
			return nil, err
		}
	}
	if r.Date.IsZero() || len(r.Files) == 0 {
		return nil, fmt.Errorf("it has no Date or no SHA256 table: try another mirror: %w", ErrUntrusted)
	}
	return r, nil
}

func (r *Release) field(key, value string, now time.Time) error {
	switch key {
	case "Suite":
		r.Suite = value
	case "Codename":
		r.Codename = value
	case "Date", "Valid-Until":
		t, err := time.Parse(time.RFC1123, value)
		if err != nil {
			return fmt.Errorf("%s %q is no time: %w", key, value, err)
		}
		if key == "Date" {
			r.Date = t
		} else if now.After(t) {
			return fmt.Errorf("it was valid until %s: the mirror is no longer updated, use another: %w", value, ErrUntrusted)
		}
	}
	return nil
}

// limited refuses more than n bytes.
type limited struct {
	b *bytes.Buffer
	n int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.b.Len()+len(p) > l.n {
		return 0, fmt.Errorf("answer is larger than %d bytes: %w", l.n, ErrUntrusted)
	}
	return l.b.Write(p)
}
