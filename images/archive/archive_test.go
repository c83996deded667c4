package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"weir/images/archive"
	"weir/images/archive/archivetest"
)

var (
	image = archivetest.Package{Name: "linux-image-2-arm64", Version: "2-1", Arch: "arm64", Data: bytes.Repeat([]byte("kernel"), 100)}
	meta  = archivetest.Package{Name: "linux-image-arm64", Version: "2-1", Arch: "arm64", Depends: "linux-image-2-arm64 (= 2-1), other:any | x", Data: []byte("meta")}
	now   = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
)

func TestReleaseIsChecked(t *testing.T) {
	const path = "dists/trixie/InRelease"
	stranger := archivetest.New(t, "trixie").Keys
	cases := []struct {
		name  string
		spoil func(*archivetest.Server)
		keys  archive.Keyring
		suite string
		want  string // "" is accepted
	}{
		{name: "as it should be"},
		{name: "by its other name", suite: "stable", spoil: func(s *archivetest.Server) {
			var b []byte
			s.Replace(path, func(old []byte) []byte { b = old; return old })
			s.Replace("dists/stable/InRelease", func([]byte) []byte { return b })
		}},
		{name: "unknown key", keys: stranger, want: "its signature is not by a key of the keyring"},
		{name: "no keys", keys: archive.Keyring{}, want: "its signature is not by a key of the keyring"},
		{name: "one byte changed", want: "its signature is not by a key", spoil: func(s *archivetest.Server) {
			s.Replace(path, func(b []byte) []byte { return bytes.Replace(b, []byte("Origin: Test"), []byte("Origin: Tesd"), 1) })
		}},
		{name: "hash changed", want: "its signature is not by a key", spoil: func(s *archivetest.Server) {
			s.Replace(path, func(b []byte) []byte {
				i := bytes.Index(b, []byte("SHA256:\n ")) + 10
				b[i] ^= 1
				return b
			})
		}},
		{name: "not signed", want: "it is not signed", spoil: func(s *archivetest.Server) {
			s.Replace(path, func([]byte) []byte { return []byte("Suite: stable\nCodename: trixie\n") })
		}},
		{name: "a login page", want: "it is not signed", spoil: func(s *archivetest.Server) {
			s.Replace(path, func([]byte) []byte { return []byte("<html>please log in") })
		}},
		{name: "other suite", suite: "forky", want: "it is the release trixie (stable) and not forky", spoil: func(s *archivetest.Server) {
			var b []byte
			s.Replace(path, func(old []byte) []byte { b = old; return old })
			s.Replace("dists/forky/InRelease", func([]byte) []byte { return b })
		}},
		{name: "expired", want: "it was valid until Mon, 30 Nov 2026 00:00:00 UTC: the mirror is no longer updated", spoil: func(s *archivetest.Server) {
			s.Release("Valid-Until: Mon, 30 Nov 2026 00:00:00 UTC\n")
		}},
		{name: "still valid", spoil: func(s *archivetest.Server) { s.Release("Valid-Until: Tue, 01 Dec 2026 00:00:01 UTC\n") }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := archivetest.New(t, "trixie", image)
			if c.spoil != nil {
				c.spoil(s)
			}
			keys := archive.Keyring(s.Keys)
			if c.keys != nil {
				keys = c.keys
			}
			suite := c.suite
			if suite == "" {
				suite = "trixie"
			}
			r, err := archive.New(s.URL).Release(t.Context(), suite, keys, now)
			if c.want == "" {
				if err != nil || len(r.Files) != 2 || r.Date.IsZero() {
					t.Errorf("%+v, %v", r, err)
				}
				return
			}
			if !errors.Is(err, archive.ErrUntrusted) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), s.URL) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

// What stands after the signature is not part of what was signed.
func TestUnsignedTailIsIgnored(t *testing.T) {
	s := archivetest.New(t, "trixie", image)
	s.Replace("dists/trixie/InRelease", func(b []byte) []byte {
		return append(b, []byte("\nSHA256:\n "+strings.Repeat("00", 32)+" 1 main/binary-evil/Packages.xz\n")...)
	})
	r, err := archive.New(s.URL).Release(t.Context(), "trixie", s.Keys, now)
	if err == nil && r.Files["main/binary-evil/Packages.xz"].Size != 0 {
		t.Error("an unsigned line was taken for a signed one")
	}
}

func TestReadPackages(t *testing.T) {
	other := archivetest.Package{Name: "bash", Version: "5", Arch: "arm64", Data: []byte("x")}
	s := archivetest.New(t, "trixie", other, image, meta)
	c := archive.New(s.URL)
	var b bytes.Buffer
	if err := c.Fetch(t.Context(), "dists/trixie/"+archive.IndexPath("main", "arm64"), -1, &b); err != nil {
		t.Fatal(err)
	}
	ps, err := archive.ReadPackages(&b, func(n string) bool { return strings.HasPrefix(n, "linux-") })
	if err != nil || len(ps) != 2 {
		t.Fatalf("%+v, %v", ps, err)
	}
	p := archive.Newest(ps, "linux-image-arm64")
	if p == nil || !slices.Equal(p.Depends, []string{"linux-image-2-arm64", "other"}) || p.SHA256 != meta.Sum() || p.Size != 4 || p.Filename != meta.File() {
		t.Errorf("%+v", p)
	}
	if archive.Newest(ps, "bash") != nil {
		t.Error("a package that was not asked for is there")
	}
}

func TestFetchGoesOnAfterABreak(t *testing.T) {
	s := archivetest.New(t, "trixie", image)
	breaks := 2
	s.Spoil(func(w http.ResponseWriter, r *http.Request, data []byte) bool {
		if breaks == 0 {
			return false
		}
		breaks--
		from := 0
		if rg := r.Header.Get("Range"); rg != "" {
			fmt.Sscanf(rg, "bytes=%d-", &from)
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(data)-from))
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		w.Write(data[from : from+100])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	var b bytes.Buffer
	c := archive.New(s.URL)
	c.Pause = time.Millisecond
	if err := c.Fetch(t.Context(), image.File(), int64(len(image.Data)), &b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), image.Data) {
		t.Errorf("%d bytes, want %d: %q", b.Len(), len(image.Data), b.Bytes())
	}
	if n := len(s.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func TestFetchErrors(t *testing.T) {
	size := int64(len(image.Data))
	cases := []struct {
		name  string
		spoil func(w http.ResponseWriter, r *http.Request, data []byte) bool
		size  int64
		is    error
		want  string
	}{
		{"gone", func(w http.ResponseWriter, r *http.Request, _ []byte) bool { w.WriteHeader(404); return true }, size, archive.ErrGone, "not on the server"},
		{"forbidden", func(w http.ResponseWriter, r *http.Request, _ []byte) bool { w.WriteHeader(403); return true }, size, archive.ErrUnreachable, `answers "403 Forbidden": try another mirror with DEBIAN_MIRROR`},
		{"too long", nil, size - 1, archive.ErrUntrusted, "is longer than the 599 bytes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := archivetest.New(t, "trixie", image)
			s.Spoil(c.spoil)
			err := archive.New(s.URL).Fetch(t.Context(), image.File(), c.size, new(bytes.Buffer))
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %v and %q", err, c.is, c.want)
			}
		})
	}
}

func TestNoNetwork(t *testing.T) {
	// Port 1 of the loopback interface: nothing listens there.
	err := archive.New("http://127.0.0.1:1/debian").Fetch(t.Context(), "x", -1, new(bytes.Buffer))
	if !errors.Is(err, archive.ErrUnreachable) || !strings.Contains(err.Error(), "check the network and the proxy, or set DEBIAN_MIRROR") {
		t.Errorf("error %v", err)
	}
	err = archive.New("no url\x7f").Fetch(t.Context(), "x", -1, new(bytes.Buffer))
	if err == nil || !strings.Contains(err.Error(), "is no URL: correct DEBIAN_MIRROR") {
		t.Errorf("error %v", err)
	}
}

func TestKeyring(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":   {"", "it holds no key"},
		"no keys": {"this is not a keyring", "reinstall debian-archive-keyring, or set DEBIAN_KEYRING"},
	} {
		file := filepath.Join(t.TempDir(), "keys.gpg")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("DEBIAN_KEYRING", file)
		_, err := archive.ReadKeyring()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	t.Setenv("DEBIAN_KEYRING", filepath.Join(t.TempDir(), "none"))
	if _, err := archive.ReadKeyring(); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "install debian-archive-keyring, or set DEBIAN_KEYRING") {
		t.Errorf("error %v", err)
	}
	// And one with a key.
	file := filepath.Join(t.TempDir(), "keys.gpg")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := archivetest.New(t, "trixie").Keys[0].Serialize(f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	t.Setenv("DEBIAN_KEYRING", file)
	if keys, err := archive.ReadKeyring(); err != nil || len(keys) != 1 {
		t.Errorf("%d keys, %v", len(keys), err)
	}
}

// A full disk is the disk's fault: it is not tried again, nor blamed on the mirror.
func TestFullDiskWhileFetching(t *testing.T) {
	s := archivetest.New(t, "trixie", image)
	err := archive.New(s.URL).Fetch(t.Context(), image.File(), -1, full{})
	if !errors.Is(err, syscall.ENOSPC) || errors.Is(err, archive.ErrUnreachable) || len(s.Requests()) != 1 {
		t.Errorf("error %v after %d requests", err, len(s.Requests()))
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestInterruptEndsADownload(t *testing.T) {
	s := archivetest.New(t, "trixie", image)
	ctx, stop := context.WithCancel(t.Context())
	s.Spoil(func(w http.ResponseWriter, r *http.Request, data []byte) bool {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		w.Write(data[:10])
		w.(http.Flusher).Flush()
		stop()
		<-r.Context().Done()
		return true
	})
	if err := archive.New(s.URL).Fetch(ctx, image.File(), -1, new(bytes.Buffer)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// The order that dpkg gives, from its own test suite and deb-version(7).
func TestCompareVersions(t *testing.T) {
	sorted := []string{
		"0~~", "0~~a", "0~", "0", "1.0~rc1", "1.0", "1.0-0+1", "1.0-1", "1.0-1+deb13u1", "1.0-2", "1.0-10",
		"1.0a", "1.0+1", "1.0.1", "6.12.48-1", "6.12.117-1~bpo12+1", "6.12.117-1", "6.12.117-1+b1", "1:0.1",
	}
	for i, a := range sorted {
		for j, b := range sorted {
			got, want := archive.CompareVersions(a, b), i-j
			if got < 0 != (want < 0) || got > 0 != (want > 0) {
				t.Errorf("compare %s with %s: %d", a, b, got)
			}
		}
	}
	for _, same := range [][2]string{{"1.0", "0:1.0"}, {"1.00", "1.0"}, {"1.01-1", "1.1-1"}} {
		if c := archive.CompareVersions(same[0], same[1]); c != 0 {
			t.Errorf("compare %s with %s: %d", same[0], same[1], c)
		}
	}
}
