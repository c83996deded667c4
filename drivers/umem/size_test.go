package umem

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fakeMap maps without asking for real pages.
func fakeMap(n int, huge bool) ([]byte, bool, error) { return make([]byte, n), huge, nil }

// What the kernel would answer with a bare EINVAL is refused before, in a
// sentence with a remedy; what it takes is taken.
func TestFrameSizes(t *testing.T) {
	for _, c := range []struct {
		size, headroom, page int
		want                 string // part of the error, "" for none
		usable               int
	}{
		{1024, 0, 4096, "use 2048", 0},
		{2048, 0, 4096, "", 1792},
		{3000, 0, 4096, "use 4096", 0},
		{4096, 0, 4096, "", 3840},
		{9746, 0, 4096, "use 4096", 0},
		{8192, 0, 4096, "use 4096", 0},
		{1024, 0, 65536, "use 2048", 0},
		{2048, 0, 65536, "", 1792},
		{3000, 0, 65536, "use 4096", 0},
		{9746, 0, 65536, "use 16384", 0},
		{16384, 0, 65536, "", 16128},
		{65536, 0, 65536, "", 65280},
		{0, 0, 4096, "use 2048", 0},
		{-2048, 0, 4096, "use 2048", 0},
		{2048, 256, 4096, "", 1536},
		{4096, 256, 4096, "", 3584},
		{2048, 1728, 4096, "", 64},
		{2048, 1729, 4096, "use 0 to 1728", 0},
		{2048, 2000, 4096, "use 0 to 1728", 0},
		{4096, 2000, 4096, "", 1840},
		{2048, -1, 4096, "use 0 to 1728", 0},
	} {
		u, err := newUMEM(Config{Frames: 4, Size: c.size, Headroom: c.headroom}, c.page, fakeMap)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("size %d, headroom %d, page %d: %v", c.size, c.headroom, c.page, err)
		case c.want == "" && u.Usable() != c.usable:
			t.Errorf("size %d, headroom %d: usable %d, want %d", c.size, c.headroom, u.Usable(), c.usable)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("size %d, headroom %d, page %d: %v, want %q", c.size, c.headroom, c.page, err, c.want)
		}
	}
}

func TestMTU(t *testing.T) {
	for _, c := range []struct {
		size, headroom, mtu, page int
		want                      string
	}{
		{2048, 0, 1500, 4096, ""},
		{2048, 0, 1770, 4096, ""},
		{2048, 0, 1771, 4096, "use frames of 4096 bytes"},
		{2048, 256, 1500, 4096, ""},
		{2048, 270, 1500, 4096, ""},
		{2048, 271, 1500, 4096, "use frames of 4096 bytes"},
		{2048, 0, 9000, 65536, "use frames of 16384 bytes"},
		{4096, 0, 3818, 4096, ""},
		{4096, 0, 3819, 4096, "set the port's MTU to 3818"},
		{4096, 0, 9000, 4096, "leave the port to the kernel"},
	} {
		u, err := newUMEM(Config{Frames: 1, Size: c.size, Headroom: c.headroom}, c.page, fakeMap)
		if err != nil {
			t.Fatal(err)
		}
		err = u.CheckMTU(c.mtu)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("frames of %d, headroom %d, MTU %d: %v, want %q", c.size, c.headroom, c.mtu, err, c.want)
		}
		if c.mtu <= u.MaxMTU() != (err == nil) {
			t.Errorf("MaxMTU %d and CheckMTU(%d) = %v disagree", u.MaxMTU(), c.mtu, err)
		}
	}
}

func TestFrameCount(t *testing.T) {
	for _, n := range []int{0, -1} {
		if _, err := newUMEM(Config{Frames: n, Size: 2048}, 4096, fakeMap); err == nil || !strings.Contains(err.Error(), "has to be 1 to") {
			t.Errorf("%d frames: %v", n, err)
		}
	}
	// More than an int counts in bytes.
	const most = int(^uint(0) >> 1)
	if _, err := newUMEM(Config{Frames: most / 1024, Size: 2048}, 4096, fakeMap); err == nil {
		t.Error("more bytes than an int holds are taken")
	}
	_, err := newUMEM(Config{Frames: 1, Size: 2048}, 4096, func(int, bool) ([]byte, bool, error) { return nil, false, unix.ENOMEM })
	if !errors.Is(err, unix.ENOMEM) || !strings.Contains(err.Error(), "use fewer") {
		t.Errorf("out of memory: %v", err)
	}
}
