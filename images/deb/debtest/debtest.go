package debtest

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Package is what a test wants in a package.
type Package struct {
	Name, Version, Arch string
	Files               map[string][]byte
	// Ext is the compression: ".xz" (the default), ".zst", ".gz" or "none".
	Ext string
}

// Bytes is the package. It panics on what only a broken test can cause.
func (p Package) Bytes() []byte {
	control := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: %s\nDescription: a test\n with a second line\n", p.Name, p.Version, p.Arch)
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	member(&b, "debian-binary", []byte("2.0\n"))
	ext := p.Ext
	switch ext {
	case "":
		ext = ".xz"
	case "none":
		ext = ""
	}
	member(&b, "control.tar"+ext, compress(ext, tarOf(map[string][]byte{"control": []byte(control)})))
	member(&b, "data.tar"+ext, compress(ext, tarOf(p.Files)))
	return b.Bytes()
}

func member(b *bytes.Buffer, name string, data []byte) {
	fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, 0, 0, 0, "100644", len(data))
	b.Write(data)
	if len(data)%2 == 1 {
		b.WriteByte('\n')
	}
}

func tarOf(files map[string][]byte) []byte {
	var b bytes.Buffer
	tw := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		must(tw.WriteHeader(&tar.Header{Name: "./" + name, Mode: 0o644, Size: int64(len(files[name]))}))
		_, err := tw.Write(files[name])
		must(err)
	}
	must(tw.Close())
	return b.Bytes()
}

func compress(ext string, data []byte) []byte {
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch ext {
	case "":
		return data
	case ".gz":
		w = gzip.NewWriter(&b)
	case ".zst":
		w, err = zstd.NewWriter(&b)
	default:
		w, err = xz.NewWriter(&b)
	}
	must(err)
	_, err = w.Write(data)
	must(err)
	must(w.Close())
	return b.Bytes()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
