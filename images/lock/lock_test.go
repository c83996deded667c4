package lock

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var sample = File{Suite: "trixie", Pins: []Pin{
	{For: "linux-image-arm64", Name: "linux-image-1-arm64", Arch: "arm64", Version: "1-1", File: "pool/a.deb", Size: 10,
		SHA256: strings.Repeat("ab", 32), Snapshot: "20261121T211544Z"},
	{For: "linux-image-armmp", Name: "linux-image-1-armmp", Arch: "armhf", Version: "1-1", File: "pool/b.deb", Size: 20,
		SHA256: strings.Repeat("cd", 32), Snapshot: "20261121T211544Z"},
}}

func TestWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.toml")
	swapped := File{Suite: sample.Suite, Pins: []Pin{sample.Pins[1], sample.Pins[0]}}
	if err := swapped.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil || !reflect.DeepEqual(*got, sample) {
		t.Errorf("read %+v, %v; want the pins sorted", got, err)
	}
	if b, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(b), "# ") {
		t.Errorf("no word at the top about who writes it: %v", err)
	}
}

func TestFind(t *testing.T) {
	if p, err := sample.Find("linux-image-armmp", "armhf"); err != nil || p.Name != "linux-image-1-armmp" {
		t.Errorf("%+v, %v", p, err)
	}
	_, err := sample.Find("linux-image-armmp", "arm64")
	if !errors.Is(err, ErrNoPin) || !strings.Contains(err.Error(), "linux-image-armmp for arm64: not in the lock file: add it with weir-image lock -update") {
		t.Errorf("error %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.toml")
	if err := sample.Write(path); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"hash too short", strings.Repeat("ab", 32), "abab", `sha256 "abab" is not 64 small hexadecimal digits`},
		{"hash in capitals", strings.Repeat("ab", 32), strings.Repeat("AB", 32), "small hexadecimal digits"},
		{"no length", "size = 10", "size = 0", "size 0 is no length"},
		{"path out of the archive", "pool/a.deb", "../../etc/passwd", "is no path below an archive"},
		{"absolute path", "pool/a.deb", "/etc/passwd", "is no path below an archive"},
		{"no version", "version = '1-1'", "version = ''", "for, name, arch or version is missing"},
		{"snapshot", "20261121T211544Z", "yesterday", `snapshot "yesterday" is no time`},
		{"unknown key", "size = 10", "size = 10\ncolour = 'red'", "strict mode"},
		{"no suite", "suite = 'trixie'", "", "it names no suite"},
		{"conflict marks", "suite", "<<<<<<< ours\nsuite", "lock file " + path},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(string(good), c.old, c.new, 1)
			if text == string(good) {
				t.Fatal("the case changes nothing")
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(path); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "weir-image lock -update") {
		t.Errorf("missing file: %v", err)
	}
}

// What is accepted is whole: nothing that is fetched or opened by it can be
// outside an archive or without a hash.
func FuzzParse(f *testing.F) {
	f.Add("suite = 'x'\n[[package]]\nfor='a'\nname='b'\narch='c'\nversion='1'\nfile='p/q.deb'\nsize=1\nsha256='" + strings.Repeat("ab", 32) + "'\nsnapshot='20261121T211544Z'\n")
	f.Add("suite = 'x'\n[[package]]\nfile='../q'")
	f.Add("suite")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parse([]byte(text))
		if err != nil {
			return
		}
		for _, p := range l.Pins {
			if len(p.SHA256) != 64 || p.Size <= 0 || strings.HasPrefix(p.File, "/") || strings.Contains(p.File, "..") {
				t.Errorf("accepted %+v", p)
			}
		}
	})
}
