package fetch

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/images/apt"
	"weir/images/archive"
	"weir/images/archive/archivetest"
	"weir/images/cache"
	"weir/images/lock"
)

var (
	old   = archivetest.Package{Name: "linux-image-1-arm64", Version: "1-1", Arch: "arm64", Data: []byte("old kernel")}
	image = archivetest.Package{Name: "linux-image-2-arm64", Version: "2-1", Arch: "arm64", Data: []byte("new kernel")}
	meta  = archivetest.Package{Name: "linux-image-arm64", Version: "2-1", Arch: "arm64", Depends: "linux-image-2-arm64 (= 2-1)", Data: []byte("meta")}
)

func pinOf(p archivetest.Package) lock.Pin {
	return lock.Pin{For: "linux-image-arm64", Name: p.Name, Arch: p.Arch, Version: p.Version,
		File: p.File(), Size: int64(len(p.Data)), SHA256: p.Sum(), Snapshot: "20261121T211544Z"}
}

// sources asks the archive at each URL.
func sources(t *testing.T, keys archive.Keyring, urls ...string) *Sources {
	t.Helper()
	c, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &Sources{
		Cache:   c,
		Mirrors: func() ([]string, error) { return urls, nil },
		Keys:    func() (archive.Keyring, error) { return keys, nil },
		Now:     func() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) },
	}
}

func TestPinnedPackageFromTheMirrorAndThenFromTheCache(t *testing.T) {
	s := archivetest.New(t, "trixie", image)
	src := sources(t, s.Keys, s.URL)
	for range 2 {
		file, err := src.Package(t.Context(), pinOf(image))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(file); err != nil || !bytes.Equal(b, image.Data) {
			t.Errorf("%q, %v", b, err)
		}
		// The second time there is neither mirror nor configuration.
		src.Mirrors = func() ([]string, error) { return nil, apt.ErrNone }
	}
	if got := s.Requests(); len(got) != 1 {
		t.Errorf("requests %q", got)
	}
}

func TestSnapshotHasWhatTheMirrorDropped(t *testing.T) {
	mirror := archivetest.New(t, "trixie", image, meta)
	snap := archivetest.New(t, "trixie", old)
	src := sources(t, mirror.Keys, mirror.URL)
	src.Snapshot = strings.TrimSuffix(snap.URL, "/debian")
	file, err := src.Package(t.Context(), pinOf(old))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(file); err != nil || !bytes.Equal(b, old.Data) {
		t.Errorf("%q, %v", b, err)
	}
	want := "/archive/debian/20261121T211544Z/" + old.File()
	if got := snap.Requests(); !slices.Equal(got, []string{want}) {
		t.Errorf("snapshot was asked for %q, want %q", got, want)
	}
	if len(mirror.Requests()) != 1 {
		t.Error("the mirror was not asked first")
	}
}

func TestSnapshotAloneIsEnough(t *testing.T) {
	snap := archivetest.New(t, "trixie", old)
	src := sources(t, nil)
	src.Mirrors = func() ([]string, error) { return nil, apt.ErrNone }
	src.Snapshot = strings.TrimSuffix(snap.URL, "/debian")
	if _, err := src.Package(t.Context(), pinOf(old)); err != nil {
		t.Fatal(err)
	}
}

// A pin that is gone is one sentence with all four ways out.
func TestGoneNamesTheWays(t *testing.T) {
	mirror := archivetest.New(t, "trixie", image, meta)
	_, err := sources(t, mirror.Keys, mirror.URL).Package(t.Context(), pinOf(old))
	if !errors.Is(err, archive.ErrGone) {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{"linux-image-1-arm64 1-1 for arm64", mirror.URL, "DEBIAN_SNAPSHOT", "-cache", "lock -update", "-any-version"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
}

func TestBadMirrors(t *testing.T) {
	const nobody = "http://127.0.0.1:1/debian"
	cases := []struct {
		name  string
		spoil func(*archivetest.Server)
		urls  func(*archivetest.Server) []string
		err   error  // of Mirrors
		is    error  // nil: it works
		want  string // in the error
	}{
		{name: "the first is down, the second works", urls: func(s *archivetest.Server) []string { return []string{nobody, s.URL} }},
		{name: "the first sends rubbish, the second works", spoil: func(s *archivetest.Server) {
			s.Replace(image.File(), func([]byte) []byte { return []byte("NEW KERNEL") })
		}, urls: func(s *archivetest.Server) []string {
			return []string{s.URL, archivetest.New(t, "trixie", image).URL}
		}},
		{name: "no network", urls: func(*archivetest.Server) []string { return []string{nobody} },
			is: archive.ErrUnreachable, want: "check the network and the proxy, or set DEBIAN_MIRROR"},
		{name: "no mirror", err: apt.ErrNone, is: apt.ErrNone, want: "linux-image-2-arm64 is not in the cache: no Debian mirror"},
		{name: "wrong hash", spoil: func(s *archivetest.Server) {
			s.Replace(image.File(), func([]byte) []byte { return []byte("NEW KERNEL") })
		}, is: cache.ErrMismatch, want: "pinned is " + image.Sum()},
		{name: "short", spoil: func(s *archivetest.Server) {
			s.Spoil(func(w http.ResponseWriter, r *http.Request, data []byte) bool {
				w.Header().Set("Content-Length", "1")
				w.WriteHeader(http.StatusForbidden)
				return true
			})
		}, is: archive.ErrUnreachable, want: "403"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := archivetest.New(t, "trixie", image)
			if c.spoil != nil {
				c.spoil(s)
			}
			urls := []string{s.URL}
			if c.urls != nil {
				urls = c.urls(s)
			}
			src := sources(t, s.Keys, urls...)
			if c.err != nil {
				src.Mirrors = func() ([]string, error) { return nil, c.err }
			}
			_, err := src.Package(t.Context(), pinOf(image))
			if c.is == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %v and %q", err, c.is, c.want)
			}
			if errors.Is(err, archive.ErrGone) {
				t.Error("it counts as gone: -any-version would go on")
			}
			if _, err := os.Stat(src.Cache.Path(image.Sum())); !errors.Is(err, os.ErrNotExist) {
				t.Error("something was kept")
			}
		})
	}
}

func TestLockAndCacheDisagree(t *testing.T) {
	s := archivetest.New(t, "trixie", image)
	src := sources(t, s.Keys, s.URL)
	path := src.Cache.Path(image.Sum())
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("something else"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := src.Package(t.Context(), pinOf(image))
	if !errors.Is(err, cache.ErrMismatch) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "delete it and run again") {
		t.Errorf("error %v", err)
	}
}

func TestNewest(t *testing.T) {
	older := meta
	older.Version, older.Depends = "1-1", "linux-image-1-arm64 (= 1-1)"
	s := archivetest.New(t, "trixie", old, older, image, meta)
	src := sources(t, s.Keys, s.URL)
	got, err := src.Newest(t.Context(), "trixie", "linux-image-arm64", "arm64")
	if err != nil {
		t.Fatal(err)
	}
	if want := pinOf(image); got != want {
		t.Errorf("pin %+v, want %+v", got, want)
	}
	_, err = src.Newest(t.Context(), "trixie", "linux-image-toaster", "arm64")
	if err == nil || !strings.Contains(err.Error(), "has no package linux-image-toaster for arm64 in trixie") {
		t.Errorf("error %v", err)
	}
	_, err = src.Newest(t.Context(), "trixie", "linux-image-arm64", "riscv64")
	if err == nil || !strings.Contains(err.Error(), "use a mirror that carries riscv64") {
		t.Errorf("error %v", err)
	}
}

// The index is trusted by the hash in the signed release and by nothing else.
func TestNewestRefusesAnotherIndex(t *testing.T) {
	s := archivetest.New(t, "trixie", image, meta)
	s.Spoil(func(w http.ResponseWriter, r *http.Request, data []byte) bool {
		if !strings.Contains(r.URL.Path, "binary-arm64") {
			return false
		}
		data = bytes.Clone(data)
		data[len(data)/2] ^= 1
		w.Write(data)
		return true
	})
	_, err := sources(t, s.Keys, s.URL).Newest(t.Context(), "trixie", "linux-image-arm64", "arm64")
	if !errors.Is(err, cache.ErrMismatch) {
		t.Errorf("error %v", err)
	}
	// And without the right key there is no newest version at all.
	stranger := archivetest.New(t, "trixie").Keys
	_, err = sources(t, stranger, s.URL).Newest(t.Context(), "trixie", "linux-image-arm64", "arm64")
	if !errors.Is(err, archive.ErrUntrusted) {
		t.Errorf("error %v", err)
	}
}

// Mirrors without by-hash are asked by name.
func TestNewestWithoutByHash(t *testing.T) {
	s := archivetest.New(t, "trixie", image, meta)
	s.Spoil(func(w http.ResponseWriter, r *http.Request, data []byte) bool {
		if strings.Contains(r.URL.Path, "/by-hash/") {
			http.NotFound(w, r)
			return true
		}
		return false
	})
	if _, err := sources(t, s.Keys, s.URL).Newest(t.Context(), "trixie", "linux-image-arm64", "arm64"); err != nil {
		t.Error(err)
	}
}
