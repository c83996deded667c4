package build

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/board"
	"weir/images/arch"
	"weir/images/archive"
	"weir/images/archive/archivetest"
	"weir/images/cache"
	"weir/images/deb"
	"weir/images/deb/debtest"
	"weir/images/fetch"
	"weir/images/initramfs"
	"weir/images/kmod/kmodtest"
	"weir/images/lock"
)

const release = "6.12.1-test"

// kernelDeb is a kernel package with one module, for a board of this GOARCH.
func kernelDeb(goarch, debArch string) []byte {
	dir := "usr/lib/modules/" + release + "/"
	return debtest.Package{
		Name: "linux-image-" + release, Version: "6.12.1-1", Arch: debArch,
		Files: map[string][]byte{
			"boot/vmlinuz-" + release:             kmodtest.Kernel(goarch),
			"boot/System.map-" + release:          []byte("not wanted"),
			dir + "kernel/drivers/net/veth.ko.xz": kmodtest.XZ(kmodtest.Module(goarch, "name=veth", "depends=", "vermagic="+release+" SMP")),
			dir + "kernel/drivers/net/wifi.ko.xz": kmodtest.XZ(kmodtest.Module(goarch, "name=wifi", "depends=", "vermagic="+release+" SMP")),
			dir + "modules.builtin":               []byte("kernel/drivers/virtio/virtio_pci.ko\n"),
			"usr/share/doc/linux/copyright":       []byte("not wanted either"),
		},
	}.Bytes()
}

func pkg(version string, data []byte) archivetest.Package {
	return archivetest.Package{Name: "linux-image-" + release, Version: version, Arch: "arm64", Data: data}
}

var meta = archivetest.Package{Name: "linux-image-arm64", Version: "2", Arch: "arm64", Depends: "linux-image-" + release + " (= 6.12.1-1)", Data: []byte("meta")}

// options are those of a small board with a lock file that pins p.
func options(t *testing.T, s *archivetest.Server, p archivetest.Package) Options {
	t.Helper()
	c, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Board: &board.Board{Name: "test", Arch: "arm64", KernelPackage: "linux-image-arm64", Modules: []string{"veth", "virtio_pci"}},
		Out:   t.TempDir(), Lock: filepath.Join(t.TempDir(), "lock.toml"), Version: "1.2.3", Cache: c,
		Sources: &fetch.Sources{
			Cache:   c,
			Mirrors: func() ([]string, error) { return []string{s.URL}, nil },
			Keys:    func() (archive.Keyring, error) { return s.Keys, nil },
			Now:     time.Now,
		},
	}
	f := lock.File{Suite: "trixie", Pins: []lock.Pin{{
		For: "linux-image-arm64", Name: p.Name, Arch: "arm64", Version: p.Version, File: p.File(),
		Size: int64(len(p.Data)), SHA256: p.Sum(), Snapshot: "20261121T211544Z",
	}}}
	if err := f.Write(o.Lock); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestKernelHasWhatTheBoardNames(t *testing.T) {
	p := pkg("6.12.1-1", kernelDeb("arm64", "arm64"))
	o := options(t, archivetest.New(t, "trixie", p, meta), p)
	pin, locked, err := o.pin(t.Context())
	if err != nil || !locked {
		t.Fatalf("locked %v, %v", locked, err)
	}
	for range 2 { // unpacked, and from the cache
		k, err := o.kernel(t.Context(), pin)
		if err != nil {
			t.Fatal(err)
		}
		if k.release != release || string(k.image) != string(kmodtest.Kernel("arm64")) {
			t.Errorf("kernel %s with %d bytes", k.release, len(k.image))
		}
		if len(k.modules.Modules) != 1 || k.modules.Modules[0].File != "kernel/drivers/net/veth.ko.xz" {
			t.Errorf("modules %+v", k.modules.Modules)
		}
	}
}

func TestKernelThatIsRefused(t *testing.T) {
	whole := kernelDeb("arm64", "arm64")
	cases := []struct {
		name string
		data []byte
		mods []string
		is   error
		want string
	}{
		{"package for another architecture", kernelDeb("arm", "armhf"), nil, arch.ErrWrong, "is for armhf, the board needs arm64: correct the lock file"},
		{"kernel for another architecture", kernelDeb("arm", "arm64"), nil, arch.ErrWrong, "kernel " + release + " is for arm, the board needs arm64"},
		{"truncated", whole[:len(whole)-100], nil, deb.ErrTruncated, "delete it and fetch it again"},
		{"unknown module", whole, []string{"veth", "modem"}, nil, "module modem does not exist in kernel " + release},
		{"no kernel package", debtest.Package{Name: "bash", Version: "1", Arch: "arm64"}.Bytes(), nil, nil, "it is no Debian kernel package"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := pkg("6.12.1-1", c.data)
			o := options(t, archivetest.New(t, "trixie", p), p)
			if c.mods != nil {
				o.Board.Modules = c.mods
			}
			pin, _, err := o.pin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, err = o.kernel(t.Context(), pin)
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if left, _ := filepath.Glob(filepath.Join(o.Cache.Dir(), "derived", "*partial*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// A pin that is gone ends the build, unless any version is good enough; then the
// image says what it is.
func TestAnyVersion(t *testing.T) {
	old := pkg("6.12.0-1", []byte("gone at the point release"))
	present := pkg("6.12.1-1", kernelDeb("arm64", "arm64"))
	s := archivetest.New(t, "trixie", present, meta)
	o := options(t, s, old)
	if _, _, err := o.pin(t.Context()); !errors.Is(err, archive.ErrGone) || !strings.Contains(err.Error(), "-any-version") {
		t.Errorf("locked build: %v", err)
	}
	o.AnyVersion = true
	pin, locked, err := o.pin(t.Context())
	if err != nil || locked || pin.SHA256 != present.Sum() {
		t.Errorf("pin %+v, locked %v, %v", pin, locked, err)
	}
	// The pinned version is still preferred where it can be had.
	s.Publish(old, present, meta)
	if pin, locked, err = o.pin(t.Context()); err != nil || !locked || pin.SHA256 != old.Sum() {
		t.Errorf("pin %+v, locked %v, %v", pin, locked, err)
	}
}

// -any-version is about versions: it does not excuse a wrong hash, a missing
// network or a foreign signature.
func TestAnyVersionExcusesNothingElse(t *testing.T) {
	p := pkg("6.12.1-1", kernelDeb("arm64", "arm64"))
	t.Run("wrong hash", func(t *testing.T) {
		s := archivetest.New(t, "trixie", p, meta)
		o := options(t, s, p)
		o.AnyVersion = true
		s.Replace(p.File(), func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
		if _, _, err := o.pin(t.Context()); !errors.Is(err, cache.ErrMismatch) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("no network", func(t *testing.T) {
		o := options(t, archivetest.New(t, "trixie", p, meta), p)
		o.AnyVersion = true
		o.Sources.Mirrors = func() ([]string, error) { return []string{"http://127.0.0.1:1/debian"}, nil }
		if _, _, err := o.pin(t.Context()); !errors.Is(err, archive.ErrUnreachable) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("foreign signature", func(t *testing.T) {
		o := options(t, archivetest.New(t, "trixie", p, meta), pkg("6.12.0-1", []byte("gone")))
		o.AnyVersion = true
		stranger := archivetest.New(t, "trixie").Keys
		o.Sources.Keys = func() (archive.Keyring, error) { return stranger, nil }
		if _, _, err := o.pin(t.Context()); !errors.Is(err, archive.ErrUntrusted) {
			t.Errorf("error %v", err)
		}
	})
}

func TestUnlockedImageSaysSo(t *testing.T) {
	for locked, want := range map[bool]string{true: "LOCKED=\"yes\"\n", false: "LOCKED=\"no\"\n"} {
		m := &Manifest{Board: "test", Version: "1", Locked: locked}
		if got := m.release(); !strings.Contains(got, want) {
			t.Errorf("release %q lacks %q", got, want)
		}
		b, err := m.JSON()
		if err != nil || !strings.Contains(string(b), map[bool]string{true: `"locked": true`, false: `"locked": false`}[locked]) {
			t.Errorf("manifest %s, %v", b, err)
		}
		var out strings.Builder
		if err := m.Print(&out); err != nil || strings.Contains(out.String(), "NOT LOCKED") == locked {
			t.Errorf("table %q, %v", out.String(), err)
		}
	}
}

// written makes an image of given parts in o.Out, without compiling anything.
func written(t *testing.T, o Options) *Manifest {
	t.Helper()
	pin, locked, err := o.pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	k, err := o.kernel(t.Context(), pin)
	if err != nil {
		t.Fatal(err)
	}
	m := &Manifest{Board: o.Board.Name, Arch: o.Board.Arch, Version: o.Version, Locked: locked, Kernel: Kernel{k.release, pin}}
	own := map[string][]byte{"init": []byte("i"), "weir": []byte("w"), "forwarder": []byte("f")}
	root := o.root(m, k, own, []byte("bb"), []string{"x/cmds/core/ls", "x/cmds/core/gosh"})
	if err := o.write(t.Context(), m, k, root); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestImageVerifies(t *testing.T) {
	p := pkg("6.12.1-1", kernelDeb("arm64", "arm64"))
	o := options(t, archivetest.New(t, "trixie", p, meta), p)
	m := written(t, o)
	pins, err := lock.Read(o.Lock)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Verify(o.Out, pins)
	if err != nil {
		t.Fatal(err)
	}
	if x, y := asJSON(t, got), asJSON(t, m); x != y {
		t.Errorf("manifest read %s, written %s", x, y)
	}

	moved := &lock.File{Suite: "trixie"}
	if _, err := Verify(o.Out, moved); !errors.Is(err, ErrAltered) || !strings.Contains(err.Error(), "the lock file does not name any more") {
		t.Errorf("after the lock moved: %v", err)
	}
	for _, name := range []string{KernelName, InitramfsName} {
		file := filepath.Join(o.Out, name)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b[0] ^= 1
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(o.Out, pins); !errors.Is(err, ErrAltered) || !strings.Contains(err.Error(), name) {
			t.Errorf("one bit of %s: %v", name, err)
		}
		b[0] ^= 1
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Verify(t.TempDir(), pins); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "weir-image build") {
		t.Errorf("no image: %v", err)
	}
}

func asJSON(t *testing.T, m *Manifest) string {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Two folders, two caches, another clock: the same bytes. The parts of an image
// that the compiler makes are compared by weir-image repro.
func TestImageIsTheSameTwice(t *testing.T) {
	p := pkg("6.12.1-1", kernelDeb("arm64", "arm64"))
	a := options(t, archivetest.New(t, "trixie", p, meta), p)
	b := options(t, archivetest.New(t, "trixie", p, meta), p)
	slices.Reverse(b.Board.Modules)
	written(t, a)
	written(t, b)
	for _, name := range []string{KernelName, InitramfsName, ManifestName} {
		if read(t, a.Out, name) != read(t, b.Out, name) {
			t.Errorf("%s differs", name)
		}
	}
	b.Version = "1.2.4"
	written(t, b)
	if read(t, a.Out, InitramfsName) == read(t, b.Out, InitramfsName) {
		t.Error("another version is the same image")
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// An interrupt leaves no manifest: there is no image that looks complete.
func TestInterruptedWriteLeavesNoManifest(t *testing.T) {
	p := pkg("6.12.1-1", kernelDeb("arm64", "arm64"))
	o := options(t, archivetest.New(t, "trixie", p, meta), p)
	m := written(t, o)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	k := &kernel{release: release, image: []byte("k")}
	if err := o.write(ctx, m, k, new(initramfs.Archive)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(o.Out, ManifestName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old manifest is still there: %v", err)
	}
}

func TestExtraFiles(t *testing.T) {
	p := pkg("6.12.1-1", kernelDeb("arm64", "arm64"))
	o := options(t, archivetest.New(t, "trixie", p, meta), p)
	written(t, o)
	without := read(t, o.Out, InitramfsName)
	file := filepath.Join(t.TempDir(), "my.toml")
	if err := os.WriteFile(file, []byte("hostname = 'x'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Extra = map[string]string{"/etc/weir.toml": file}
	written(t, o)
	with := read(t, o.Out, InitramfsName)
	if !strings.HasPrefix(with, without) || !strings.Contains(with[len(without):], "etc/weir.toml\x00") {
		t.Error("the extra file is not behind the image")
	}
	o.Extra["/etc/x"] = filepath.Join(t.TempDir(), "none")
	if _, err := o.image(new(initramfs.Archive)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing extra file: %v", err)
	}
}

func TestUpdateLockPinsEveryBoard(t *testing.T) {
	arm64 := pkg("6.12.1-1", kernelDeb("arm64", "arm64"))
	armhf := archivetest.Package{Name: "linux-image-" + release + "-armmp", Version: "6.12.1-1", Arch: "armhf", Data: kernelDeb("arm", "armhf")}
	metaMP := archivetest.Package{Name: "linux-image-armmp", Version: "2", Arch: "armhf", Depends: armhf.Name, Data: []byte("m")}
	s := archivetest.New(t, Suite, arm64, meta, armhf, metaMP)
	o := options(t, s, pkg("6.12.0-1", []byte("old")))
	f, err := UpdateLock(t.Context(), o.Lock, o.Sources)
	if err != nil {
		t.Fatal(err)
	}
	again, err := lock.Read(o.Lock)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range board.All() {
		pin, err := again.Find(b.KernelPackage, b.DebianArch())
		if err != nil {
			t.Error(err)
		} else if pin.Snapshot != "20261121T211544Z" { // the release's date and half a day
			t.Errorf("snapshot %s", pin.Snapshot)
		}
	}
	if len(f.Pins) != 2 {
		t.Errorf("%d pins, want one for each kernel", len(f.Pins))
	}
	// A failed update leaves the lock file as it was.
	before := read(t, filepath.Dir(o.Lock), "lock.toml")
	s.Publish(arm64, meta)
	if _, err := UpdateLock(t.Context(), o.Lock, o.Sources); err == nil || !strings.Contains(err.Error(), "board qemu-armv7") {
		t.Errorf("error %v", err)
	}
	if read(t, filepath.Dir(o.Lock), "lock.toml") != before {
		t.Error("the lock file was changed")
	}
}
