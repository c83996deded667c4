package deb

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/images/deb/debtest"
)

func write(t testing.TB, b []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.deb")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// read is everything that a package holds.
func read(file string) (control map[string]string, files map[string]string, err error) {
	p, err := Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer p.Close()
	if control, err = p.Control(); err != nil {
		return nil, nil, err
	}
	files = make(map[string]string)
	err = p.Walk(func(h *tar.Header, r io.Reader) error {
		b, err := io.ReadAll(r)
		files[h.Name] = string(b)
		return err
	})
	return control, files, err
}

func sample(ext string) []byte {
	return debtest.Package{
		Name: "linux-image-1", Version: "1-1", Arch: "arm64", Ext: ext,
		Files: map[string][]byte{"boot/vmlinuz-1": bytes.Repeat([]byte("kernel "), 5000), "usr/share/doc/x": []byte("odd")},
	}.Bytes()
}

func TestReadsEveryCompression(t *testing.T) {
	for _, ext := range []string{".xz", ".zst", ".gz", "none"} {
		t.Run(ext, func(t *testing.T) {
			control, files, err := read(write(t, sample(ext)))
			if err != nil {
				t.Fatal(err)
			}
			if control["Architecture"] != "arm64" || control["Package"] != "linux-image-1" || control["Description"] != "a test" {
				t.Errorf("control %v", control)
			}
			if len(files) != 2 || files["./usr/share/doc/x"] != "odd" || len(files["./boot/vmlinuz-1"]) != 35000 {
				t.Errorf("files %d, %d bytes of kernel", len(files), len(files["./boot/vmlinuz-1"]))
			}
		})
	}
}

// Cut anywhere, a package is an error that says so, and never a shorter package.
func TestEveryTruncationIsReported(t *testing.T) {
	for _, ext := range []string{".xz", ".zst", ".gz", "none"} {
		whole := sample(ext)
		for n := 0; n < len(whole)-1; n += 1 + len(whole)/200 {
			_, _, err := read(write(t, whole[:n]))
			if n == 8 && errors.Is(err, ErrFormat) {
				continue // an empty ar archive
			}
			if !errors.Is(err, ErrTruncated) || !strings.Contains(err.Error(), "fetch it again") {
				t.Fatalf("%s cut to %d of %d bytes: %v", ext, n, len(whole), err)
			}
		}
	}
}

// A length that the outer archive agrees with, and the compressor does not.
func TestTruncatedInside(t *testing.T) {
	for _, ext := range []string{".xz", ".zst", ".gz"} {
		whole := sample(ext)
		cut := 40
		short := bytes.Clone(whole[:len(whole)-cut])
		i := bytes.LastIndex(short, []byte("data.tar"))
		size := len(short) - (i + 60)
		copy(short[i+48:i+58], []byte(strings.Repeat(" ", 10)))
		copy(short[i+48:], []byte(itoa(size)))
		_, _, err := read(write(t, short))
		if !errors.Is(err, ErrTruncated) {
			t.Errorf("%s: %v", ext, err)
		}
	}
}

func itoa(n int) string {
	var b []byte
	for ; n > 0; n /= 10 {
		b = append([]byte{byte('0' + n%10)}, b...)
	}
	return string(b)
}

func TestNoPackage(t *testing.T) {
	for name, b := range map[string][]byte{
		"text":      []byte("<html>please log in to this network</html>"),
		"other ar":  append([]byte("!<arch>\n"), []byte("hello           0           0     0     100644  2         `\nhi")...),
		"bad entry": append([]byte("!<arch>\n"), bytes.Repeat([]byte("x"), 80)...),
	} {
		if _, _, err := read(write(t, b)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(sample("none"))
	f.Add(sample(".xz"))
	f.Add([]byte("!<arch>\n"))
	f.Fuzz(func(t *testing.T, b []byte) { read(write(t, b)) })
}
