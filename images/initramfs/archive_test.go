package initramfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/u-root/mkuimage/cpio"
)

// part is one thing to put into an archive.
type part struct {
	name string
	add  func(*Archive)
}

func file(name, text string) part {
	return part{name, func(a *Archive) { a.File(name, 0o644, []byte(text)) }}
}

var parts = []part{
	file("init", "program"),
	file("bin/weir", "other program"),
	file("etc/weir/board", "test\n"),
	file("etc/empty", ""),
	{"link", func(a *Archive) { a.Symlink("bin/sh", "../bbin/gosh") }},
	{"tmp", func(a *Archive) { a.Dir("tmp", 0o1777) }},
	{"console", func(a *Archive) { a.CharDev("dev/console", 0o600, 5, 1) }},
}

func archive(ps ...part) *Archive {
	a := new(Archive)
	for _, p := range ps {
		p.add(a)
	}
	return a
}

func zipped(t *testing.T, a *Archive) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := a.WriteGzip(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// fromDisk reads the parts' texts back from files written in a folder, in an
// order, under a umask, with times and in a time zone of its own.
func fromDisk(t *testing.T, dir string, umask int, reverse bool, tz string) []byte {
	t.Helper()
	old := syscall.Umask(umask)
	defer syscall.Umask(old)
	t.Setenv("TZ", tz)
	a := new(Archive)
	texts := []string{"init=program", "bin/weir=other", "etc/weir/board=b", "lib/a=1", "lib/b=2"}
	for i := range texts {
		kv := texts[i]
		if reverse {
			kv = texts[len(texts)-1-i]
		}
		name, text, _ := strings.Cut(kv, "=")
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a.File(name, 0o644, b)
	}
	return zipped(t, a)
}

func TestSameBytesFromTwoFolders(t *testing.T) {
	a := fromDisk(t, t.TempDir(), 0o022, false, "UTC")
	b := fromDisk(t, filepath.Join(t.TempDir(), "a", "much", "longer", "folder"), 0o077, true, "Pacific/Chatham")
	if !bytes.Equal(a, b) {
		t.Error("two folders, umasks, time zones and orders give different bytes")
	}
}

// Each input is in the image: change one byte of any, and it is another image.
func TestOneByteChangesTheImage(t *testing.T) {
	whole := zipped(t, archive(parts...))
	others := map[string]part{
		"contents":        file("init", "progran"),
		"name":            file("iniu", "program"),
		"mode":            {"init", func(a *Archive) { a.File("init", 0o645, []byte("program")) }},
		"one more":        file("init2", ""),
		"target of link":  {"link", func(a *Archive) { a.Symlink("bin/sh", "../bbin/gosi") }},
		"device's number": {"console", func(a *Archive) { a.CharDev("dev/console", 0o600, 5, 2) }},
		"folder's mode":   {"tmp", func(a *Archive) { a.Dir("tmp", 0o1776) }},
	}
	for name, other := range others {
		ps := append([]part(nil), parts...)
		replaced := false
		for i := range ps {
			if ps[i].name == other.name {
				ps[i], replaced = other, true
			}
		}
		if !replaced {
			ps = append(ps, other)
		}
		if bytes.Equal(whole, zipped(t, archive(ps...))) {
			t.Errorf("%s: the image is the same", name)
		}
	}
	if !bytes.Equal(whole, zipped(t, archive(parts...))) {
		t.Error("and the same parts do not give the same image")
	}
}

func records(t *testing.T, b []byte) []cpio.Record {
	t.Helper()
	rs, err := cpio.ReadAllRecords(cpio.Newc.Reader(bytes.NewReader(b)))
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func TestNumbersAreThoseOfTheContents(t *testing.T) {
	var b bytes.Buffer
	if err := archive(parts...).WriteCPIO(&b); err != nil {
		t.Fatal(err)
	}
	rs := records(t, b.Bytes())
	links := map[string]uint64{"bin": 2, "dev": 2, "etc": 3, "etc/weir": 2, "tmp": 2}
	for i, r := range rs {
		if r.Ino != uint64(i)+1 || r.MTime != 0 || r.UID != 0 || r.GID != 0 || r.Major != 0 || r.Minor != 0 {
			t.Errorf("%s: %v", r.Name, r.Info)
		}
		if i > 0 && rs[i-1].Name >= r.Name {
			t.Errorf("%s comes after %s", r.Name, rs[i-1].Name)
		}
		if want := max(links[r.Name], 1); r.NLink != want {
			t.Errorf("%s has %d links, want %d", r.Name, r.NLink, want)
		}
	}
	head := zipped(t, archive(parts...))[:10]
	if !bytes.Equal(head[3:8], make([]byte, 5)) { // RFC 1952: FLG (no name), MTIME
		t.Errorf("gzip header % x has a name or a time", head)
	}
}

func TestRefuses(t *testing.T) {
	for want, ps := range map[string][]part{
		"/init is there twice":     {file("init", "a"), file("/init", "a")},
		"is no name for a file":    {file("/", "a")},
		"which is no folder":       {file("etc", "a"), file("etc/weir", "b")},
		"/etc is there twice":      {file("etc/weir", "b"), file("etc", "a")},
		`"a\x00b" is no name`:      {file("a\x00b", "")},
		"/init is there twice: re": {file("x/../init", "a"), file("init", "a")},
	} {
		err := archive(ps...).WriteGzip(io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// The kernel takes the second archive only at a multiple of 4: for every length
// of the first, and for every length of name and contents.
func TestSecondArchiveIsWhereTheKernelLooks(t *testing.T) {
	seen := make(map[int]bool)
	for n := 0; n < 64; n++ {
		// The name in the gzip header is skipped by any reader and gives every length.
		var img bytes.Buffer
		zw := gzip.NewWriter(&img)
		zw.Name = strings.Repeat("x", n)
		if err := archive(parts...).WriteCPIO(zw); err != nil {
			t.Fatal(err)
		}
		if err := zw.Close(); err != nil {
			t.Fatal(err)
		}
		first := img.Len()
		seen[first%4] = true
		name := strings.Repeat("n", 1+n%8)
		second := archive(file("etc/weir.toml", strings.Repeat("t", n)), file(name, "x"))
		if err := Append(&img, int64(first), second); err != nil {
			t.Fatal(err)
		}
		rest := img.Bytes()[first:]
		at := bytes.IndexByte(rest, '0')
		if (first+at)%4 != 0 {
			t.Fatalf("after %d bytes the second archive is at %d", first, first+at)
		}
		if at < 4 || strings.Trim(string(rest[:at]), "\x00") != "" {
			t.Fatalf("after %d bytes, %d bytes of padding: % x", first, at, rest[:at])
		}
		got := ""
		for _, r := range records(t, rest[at:]) {
			got += fmt.Sprintf("%s:%d ", r.Name, r.FileSize)
		}
		if want := fmt.Sprintf("etc:0 etc/weir.toml:%d %s:1 ", n, name); got != want {
			t.Fatalf("after %d bytes: %s, want %s", first, got, want)
		}
	}
	if len(seen) != 4 {
		t.Errorf("lengths modulo 4 that were tried: %v", seen)
	}
}

func TestFullDiskIsReported(t *testing.T) {
	whole := len(zipped(t, archive(parts...)))
	for n := 0; n < whole; n += 11 {
		if err := archive(parts...).WriteGzip(&disk{free: n}); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%d of %d bytes fit: %v", n, whole, err)
		}
	}
}

// disk takes free bytes.
type disk struct{ free int }

func (d *disk) Write(p []byte) (int, error) {
	n := min(len(p), d.free)
	d.free -= n
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}
