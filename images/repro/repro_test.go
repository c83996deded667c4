package repro

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/images/build"
	"weir/images/initramfs"
)

// image writes an image folder whose initramfs has one file with this text.
func image(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	a := new(initramfs.Archive)
	a.File("init", 0o755, []byte("same"))
	a.File("etc/x", 0o644, []byte(text))
	f, err := os.Create(filepath.Join(dir, build.InitramfsName))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.WriteGzip(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{build.KernelName, build.ManifestName} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCompareNamesWhatDiffers(t *testing.T) {
	if err := compare(image(t, "a"), image(t, "a")); err != nil {
		t.Error(err)
	}
	err := compare(image(t, "a"), image(t, "b"))
	if !errors.Is(err, ErrDiffers) || !strings.HasSuffix(err.Error(), "initramfs.cpio.gz differs: etc/x") {
		t.Errorf("error %v", err)
	}
	other := image(t, "a")
	if err := os.WriteFile(filepath.Join(other, build.KernelName), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := compare(image(t, "a"), other); !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), "vmlinuz") {
		t.Errorf("error %v", err)
	}
}

func TestChangeOneByteChangesOneByte(t *testing.T) {
	file := filepath.Join(t.TempDir(), "weir.toml")
	const before = "# The configuration\nhostname = \"weir\"\n"
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := changeOneByte(file); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(file)
	if err != nil || string(after) != "# the configuration\nhostname = \"weir\"\n" {
		t.Errorf("%q, %v", after, err)
	}
}

func TestCopyLeavesOutWhatIsNoSource(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "to")
	for _, f := range []string{"go.mod", "board/x/weir.toml", ".git/HEAD", "build/qemu/vmlinuz", "images/build/build.go"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(from, f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, f), []byte(f), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyTree(from, to); err != nil {
		t.Fatal(err)
	}
	for f, want := range map[string]bool{"go.mod": true, "board/x/weir.toml": true, ".git": false, "build": false, "images/build/build.go": true} {
		if _, err := os.Stat(filepath.Join(to, f)); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", f, err, want)
		}
	}
}
