package apt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// ErrNone: neither the environment nor apt names a Debian mirror.
var ErrNone = errors.New("no Debian mirror")

// Source is one place packages come from.
type Source struct {
	URI        string // without a slash at the end
	Suites     []string
	Components []string
	SignedBy   string
}

// Mirrors are the base URIs of Debian's main archive, the first to be tried
// first: $DEBIAN_MIRROR alone if it is set, otherwise what apt uses.
func Mirrors() ([]string, error) {
	if m := strings.TrimSuffix(os.Getenv("DEBIAN_MIRROR"), "/"); m != "" {
		return []string{m}, nil
	}
	sources, err := Read(os.DirFS("/etc/apt"))
	if err != nil {
		return nil, err
	}
	return FromSources(sources)
}

// FromSources picks the mirrors of Debian's main archive out of all sources.
func FromSources(sources []Source) ([]string, error) {
	var uris []string
	for _, s := range sources {
		if s.debianMain() && !slices.Contains(uris, s.URI) {
			uris = append(uris, s.URI)
		}
	}
	if len(uris) == 0 {
		return nil, fmt.Errorf("%w: apt is not configured with one, set DEBIAN_MIRROR to the base URL of a mirror", ErrNone)
	}
	return uris, nil
}

// debianMain is by what every mirror of the main archive has in common: the
// path's last element, or apt's own word about who signs it. The signature
// decides in the end.
func (s Source) debianMain() bool {
	if !strings.HasPrefix(s.URI, "http://") && !strings.HasPrefix(s.URI, "https://") {
		return false
	}
	if !slices.Contains(s.Components, "main") || strings.HasSuffix(s.URI, "-security") {
		return false
	}
	for _, suite := range s.Suites {
		if strings.HasSuffix(suite, "-security") {
			return false
		}
	}
	return path.Base(s.URI) == "debian" || strings.Contains(s.SignedBy, "debian-archive-")
}

// Read collects the binary-package sources of an /etc/apt.
func Read(etc fs.FS) ([]Source, error) {
	files := []string{"sources.list"}
	for _, pattern := range []string{"sources.list.d/*.list", "sources.list.d/*.sources"} {
		found, err := fs.Glob(etc, pattern)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	var all []Source
	for _, name := range files {
		b, err := fs.ReadFile(etc, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("apt's configuration: %w", err)
		}
		if strings.HasSuffix(name, ".sources") {
			all = append(all, parseDeb822(string(b))...)
		} else {
			all = append(all, parseList(string(b))...)
		}
	}
	return all, nil
}
