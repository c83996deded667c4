package machine

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/u-root/u-root/pkg/cpio"
)

// Every part starts on a multiple of 4 whatever the lengths before it, and the
// files come out as they went in.
func TestPartsAreAligned(t *testing.T) {
	for n := range 5 {
		base := filepath.Join(t.TempDir(), "base")
		if err := os.WriteFile(base, bytes.Repeat([]byte{0xab}, n), 0o600); err != nil {
			t.Fatal(err)
		}
		content := bytes.Repeat([]byte("x"), n)
		part := Part{Files: []File{{Path: "/etc/weir.toml", Content: content}}}
		packed := part
		packed.Compress = true
		var out bytes.Buffer
		if err := WriteInitrd(&out, base, []Part{packed, part}); err != nil {
			t.Fatal(err)
		}
		b := out.Bytes()
		if len(b)%4 != 0 {
			t.Errorf("base of %d bytes: %d bytes in all", n, len(b))
		}
		start := (n + 3) / 4 * 4
		// The gzip member, then its padding, then the plain archive.
		rest := bytes.NewReader(b[start:])
		z, err := gzip.NewReader(rest)
		if err != nil {
			t.Fatalf("base of %d bytes: no gzip at %d: %v", n, start, err)
		}
		z.Multistream(false)
		plain, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		checkArchive(t, plain, content)
		at := len(b) - rest.Len()
		checkArchive(t, b[(at+3)/4*4:], content)
	}
}

func checkArchive(t *testing.T, b, content []byte) {
	t.Helper()
	files := map[string]cpio.Record{}
	if err := cpio.ForEachRecord(cpio.Newc.Reader(bytes.NewReader(b)), func(r cpio.Record) error {
		files[r.Name] = r
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if r, ok := files["etc"]; !ok || r.Mode&cpio.S_IFMT != cpio.S_IFDIR {
		t.Error("the folder /etc is not in the archive")
	}
	r, ok := files["etc/weir.toml"]
	if !ok {
		t.Fatal("the file is not in the archive")
	}
	got, err := io.ReadAll(io.NewSectionReader(r, 0, int64(r.FileSize)))
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("got %q, %v; want %q", got, err, content)
	}
}
