package deb

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// decompress reads by the member's extension. done releases the decompressor.
func decompress(ext string, r io.Reader) (_ io.Reader, done func(), err error) {
	done = func() {}
	switch ext {
	case ".tar":
		return r, done, nil
	case ".gz":
		zr, err := gzip.NewReader(r)
		return zr, done, err
	case ".xz":
		zr, err := xz.NewReader(r)
		return zr, done, err
	case ".zst":
		zr, err := zstd.NewReader(r)
		if err != nil {
			return nil, done, err
		}
		return zr, zr.Close, nil
	}
	return nil, done, fmt.Errorf("%w: compression %s is not known", ErrFormat, ext)
}
