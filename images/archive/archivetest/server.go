package archivetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/ulikunitz/xz"
)

// Package is one package of the archive.
type Package struct {
	Name, Version, Arch, Depends string
	Data                         []byte
}

// File is the package's path below the archive's base.
func (p Package) File() string {
	return fmt.Sprintf("pool/main/%s_%s_%s.deb", p.Name, p.Version, p.Arch)
}

// Sum is the SHA-256 of the package.
func (p Package) Sum() string { return sum(p.Data) }

// Server is the archive. Set the exported fields before the request they are for.
type Server struct {
	URL  string
	Keys openpgp.EntityList

	mu       sync.Mutex
	files    map[string][]byte
	requests []string
	// Spoil changes what is sent for a path, "" for all; nil sends it as it is.
	spoil func(w http.ResponseWriter, r *http.Request, data []byte) bool

	t        testing.TB
	suite    string
	extra    string
	packages []Package
}

// New starts an archive with one suite.
func New(t testing.TB, suite string, packages ...Package) *Server {
	t.Helper()
	key, err := openpgp.NewEntity("Test Archive", "", "archive@test.invalid", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, suite: suite, packages: packages, Keys: openpgp.EntityList{key}}
	ts := httptest.NewServer(s)
	t.Cleanup(ts.Close)
	s.URL = ts.URL + "/debian"
	s.Publish(packages...)
	return s
}

// Publish replaces the archive's packages, index and signature.
func (s *Server) Publish(packages ...Package) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packages = packages
	s.files = make(map[string][]byte)
	index := make(map[string]*bytes.Buffer)
	for _, arch := range []string{"arm64", "armhf"} {
		index[arch] = new(bytes.Buffer)
	}
	for _, p := range packages {
		s.files[p.File()] = p.Data
		fmt.Fprintf(index[p.Arch], "Package: %s\nVersion: %s\nArchitecture: %s\nDepends: %s\nDescription: a test\n  Package: not-this\nFilename: %s\nSize: %d\nSHA256: %s\n\n",
			p.Name, p.Version, p.Arch, p.Depends, p.File(), len(p.Data), p.Sum())
	}
	var rel strings.Builder
	fmt.Fprintf(&rel, "Origin: Test\nSuite: stable\nCodename: %s\nDate: Sat, 21 Nov 2026 09:15:44 UTC\n%sSHA256:\n", s.suite, s.extra)
	for arch, text := range index {
		name := "main/binary-" + arch + "/Packages.xz"
		var z bytes.Buffer
		w, err := xz.NewWriter(&z)
		if err != nil {
			s.t.Fatal(err)
		}
		w.Write(text.Bytes())
		w.Close()
		dir := "dists/" + s.suite + "/"
		s.files[dir+name] = z.Bytes()
		s.files[dir+path.Dir(name)+"/by-hash/SHA256/"+sum(z.Bytes())] = z.Bytes()
		fmt.Fprintf(&rel, " %s %d %s\n", sum(z.Bytes()), z.Len(), name)
	}
	s.files["dists/"+s.suite+"/InRelease"] = s.sign(rel.String())
}

// Release adds lines to the signed Release, for example "Valid-Until: …\n".
func (s *Server) Release(lines string) {
	s.extra = lines
	s.Publish(s.packages...)
}

func (s *Server) sign(text string) []byte {
	var b bytes.Buffer
	w, err := clearsign.Encode(&b, s.Keys[0].PrivateKey, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	w.Write([]byte(text))
	if err := w.Close(); err != nil {
		s.t.Fatal(err)
	}
	return b.Bytes()
}

// Remove takes a file out, as a point release does.
func (s *Server) Remove(file string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, file)
}

// Replace puts other bytes at a path.
func (s *Server) Replace(file string, change func([]byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[file] = change(bytes.Clone(s.files[file]))
}

// Spoil lets f answer instead; f gives false to leave it to the archive.
func (s *Server) Spoil(f func(w http.ResponseWriter, r *http.Request, data []byte) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spoil = f
}

// Requests are the paths asked for so far.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// ServeHTTP serves the archive at /debian, and at the paths of a snapshot
// archive, /archive/debian/TIME.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.URL.Path)
	name, ok := strings.CutPrefix(r.URL.Path, "/debian/")
	if rest, isSnap := strings.CutPrefix(r.URL.Path, "/archive/debian/"); isSnap {
		_, name, ok = strings.Cut(rest, "/")
	}
	data, found := s.files[name]
	spoil := s.spoil
	s.mu.Unlock()
	if spoil != nil && spoil(w, r, data) {
		return
	}
	if !ok || !found {
		http.NotFound(w, r)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
