package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"weir/images/apt"
	"weir/images/archive"
	"weir/images/cache"
	"weir/images/lock"
	"weir/images/progress"
)

// Sources is where packages come from.
type Sources struct {
	Cache  *cache.Cache
	Report *progress.Reporter
	// Mirrors gives the archive's base URLs; it is asked only when the cache lacks
	// something, so that a full cache needs no network and no configuration.
	Mirrors func() ([]string, error)
	// Snapshot is the base URL of a snapshot archive, or empty.
	Snapshot string
	// Keys are the keys that may sign the archive.
	Keys func() (archive.Keyring, error)
	Now  func() time.Time
}

// New is the sources that this machine is configured for.
func New(c *cache.Cache, r *progress.Reporter) *Sources {
	return &Sources{
		Cache:    c,
		Report:   r,
		Mirrors:  apt.Mirrors,
		Snapshot: strings.TrimSuffix(os.Getenv("DEBIAN_SNAPSHOT"), "/"),
		Keys:     archive.ReadKeyring,
		Now:      time.Now,
	}
}

// Package gives the path of a pinned package in the cache, fetching it if need
// be. The error wraps archive.ErrGone if every source answered and none has it.
func (s *Sources) Package(ctx context.Context, pin lock.Pin) (string, error) {
	if file, err := s.Cache.Get(pin.SHA256); !errors.Is(err, cache.ErrMissing) {
		return file, err
	}
	urls, err := s.bases(pin)
	if err != nil {
		return "", fmt.Errorf("%s is not in the cache: %w", pin.Name, err)
	}
	var errs []error
	gone := true
	for _, base := range urls {
		file, err := s.from(ctx, base, pin)
		if err == nil {
			return file, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if !errors.Is(err, archive.ErrGone) {
			gone = false
		}
		errs = append(errs, err)
	}
	if gone {
		return "", fmt.Errorf("%s %s for %s is pinned and no longer on %s: %s: %w",
			pin.Name, pin.Version, pin.Arch, strings.Join(urls, " or "), ways(pin), archive.ErrGone)
	}
	return "", errors.Join(errs...)
}

// ways is what the user can do about a pin that is gone.
func ways(pin lock.Pin) string {
	return "set DEBIAN_SNAPSHOT to the base URL of a snapshot archive that has archive/debian/" +
		pin.Snapshot + " below it, give a cache that has the file with -cache, " +
		"move the lock with weir-image lock -update, or build with the newest version, unlocked, with -any-version"
}

// bases are the archives to ask for a pin, in order.
func (s *Sources) bases(pin lock.Pin) ([]string, error) {
	urls, err := s.Mirrors()
	if s.Snapshot != "" {
		urls = append(urls, s.Snapshot+"/archive/debian/"+pin.Snapshot)
	} else if err != nil {
		return nil, err
	}
	return urls, nil
}

func (s *Sources) from(ctx context.Context, base string, pin lock.Pin) (string, error) {
	return s.Cache.Ensure(ctx, pin.SHA256, func(w io.Writer) error {
		stage := s.Report.Begin(pin.Size, "fetch %s %s from %s", pin.Name, pin.Version, base)
		err := archive.New(base).Fetch(ctx, pin.File, pin.Size, io.MultiWriter(w, stage))
		stage.Finish(err)
		return err
	})
}

// Newest is a pin for the newest version that a mirror's signed index has of the
// package asked for, or of the kernel that it depends on if it is a name for one.
func (s *Sources) Newest(ctx context.Context, suite, asked, debArch string) (lock.Pin, error) {
	urls, err := s.Mirrors()
	if err != nil {
		return lock.Pin{}, err
	}
	keys, err := s.Keys()
	if err != nil {
		return lock.Pin{}, err
	}
	var errs []error
	for _, base := range urls {
		pin, err := s.newestAt(ctx, base, keys, suite, asked, debArch)
		if err == nil {
			return pin, nil
		}
		if ctx.Err() != nil {
			return lock.Pin{}, ctx.Err()
		}
		errs = append(errs, err)
	}
	return lock.Pin{}, errors.Join(errs...)
}

func (s *Sources) newestAt(ctx context.Context, base string, keys archive.Keyring, suite, asked, debArch string) (lock.Pin, error) {
	c := archive.New(base)
	stage := s.Report.Begin(0, "check the signature of %s at %s", suite, base)
	rel, err := c.Release(ctx, suite, keys, s.Now())
	stage.Finish(err)
	if err != nil {
		return lock.Pin{}, err
	}
	ps, err := s.index(ctx, c, suite, debArch, rel)
	if err != nil {
		return lock.Pin{}, err
	}
	p := archive.Newest(ps, asked)
	if p == nil {
		return lock.Pin{}, fmt.Errorf("%s has no package %s for %s in %s: correct the board's kernel, or use another mirror", base, asked, debArch, suite)
	}
	for _, d := range p.Depends {
		if strings.HasPrefix(d, "linux-image-") {
			if k := archive.Newest(ps, d); k != nil {
				p = k
			}
			break
		}
	}
	return lock.Pin{
		For: asked, Name: p.Name, Arch: debArch, Version: p.Version,
		File: p.Filename, Size: p.Size, SHA256: p.SHA256,
		Snapshot: rel.Date.UTC().Add(lock.SnapshotAfter).Format(lock.SnapshotLayout),
	}, nil
}

// index is the kernel packages of an architecture, by the hash that rel names.
func (s *Sources) index(ctx context.Context, c *archive.Client, suite, debArch string, rel *archive.Release) ([]archive.Package, error) {
	name := archive.IndexPath("main", debArch)
	want, ok := rel.Files[name]
	if !ok {
		return nil, fmt.Errorf("%s has no %s in %s: use a mirror that carries %s", c.Base, name, suite, debArch)
	}
	file, err := s.Cache.Ensure(ctx, want.SHA256, func(w io.Writer) error {
		stage := s.Report.Begin(want.Size, "fetch the index of %s for %s", suite, debArch)
		// By hash first: the plain name may be replaced between the two downloads.
		byHash := "dists/" + suite + "/" + path.Dir(name) + "/by-hash/SHA256/" + want.SHA256
		err := c.Fetch(ctx, byHash, want.Size, io.MultiWriter(w, stage))
		if errors.Is(err, archive.ErrGone) {
			err = c.Fetch(ctx, "dists/"+suite+"/"+name, want.Size, io.MultiWriter(w, stage))
		}
		stage.Finish(err)
		return err
	})
	if err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return archive.ReadPackages(f, func(n string) bool { return strings.HasPrefix(n, "linux-image-") })
}
