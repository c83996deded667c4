package lock

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"weir/images/atomic"
)

// ErrNoPin: the lock file does not name what a board needs.
var ErrNoPin = errors.New("not in the lock file")

// File is the whole lock file.
type File struct {
	// Suite is the Debian release that pins are taken from.
	Suite string `toml:"suite"`
	Pins  []Pin  `toml:"package"`
}

// Pin is one package, exactly.
type Pin struct {
	// For is the package that was asked for: a board's kernel package, which only
	// names the present kernel.
	For     string `toml:"for"`
	Name    string `toml:"name"`
	Arch    string `toml:"arch"` // Debian's word: arm64, armhf
	Version string `toml:"version"`
	// File is the path below the archive's base.
	File   string `toml:"file"`
	Size   int64  `toml:"size"`
	SHA256 string `toml:"sha256"`
	// Snapshot is the time, in the snapshot service's form, at which that service
	// is asked for File. It is later than the archive's own date by SnapshotAfter.
	Snapshot string `toml:"snapshot"`
}

// SnapshotLayout is the form of times in a snapshot archive's paths.
const SnapshotLayout = "20060102T150405Z"

// SnapshotAfter is added to the date of the index that a pin is taken from. The
// service keeps several states a day and answers with the last one before the
// time asked, so half a day later is a state that has what the index names.
const SnapshotAfter = 12 * time.Hour

// Read reads and checks a lock file.
func Read(path string) (*File, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("no lock file: make one with weir-image lock -update: %w", err)
	}
	f, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("lock file %s: %w: restore it from version control, or make it anew with weir-image lock -update", path, err)
	}
	return f, nil
}

func parse(b []byte) (*File, error) {
	f := new(File)
	if err := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields().Decode(f); err != nil {
		return nil, err
	}
	if f.Suite == "" {
		return nil, errors.New("it names no suite")
	}
	for _, p := range f.Pins {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("package %s: %w", p.Name, err)
		}
	}
	return f, nil
}

func (p Pin) check() error {
	sum, err := hex.DecodeString(p.SHA256)
	switch {
	case err != nil || len(sum) != 32 || strings.ToLower(p.SHA256) != p.SHA256:
		return fmt.Errorf("sha256 %q is not 64 small hexadecimal digits", p.SHA256)
	case p.Size <= 0:
		return fmt.Errorf("size %d is no length", p.Size)
	case p.Name == "" || p.For == "" || p.Arch == "" || p.Version == "":
		return errors.New("for, name, arch or version is missing")
	case p.File == "" || strings.HasPrefix(p.File, "/") || strings.Contains(p.File, ".."):
		return fmt.Errorf("file %q is no path below an archive", p.File)
	}
	if _, err := time.Parse(SnapshotLayout, p.Snapshot); err != nil {
		return fmt.Errorf("snapshot %q is no time of the form %s", p.Snapshot, SnapshotLayout)
	}
	return nil
}

// Find is the pin for a package that a board asks for.
func (f *File) Find(asked, debArch string) (Pin, error) {
	for _, p := range f.Pins {
		if p.For == asked && p.Arch == debArch {
			return p, nil
		}
	}
	return Pin{}, fmt.Errorf("%s for %s: %w: add it with weir-image lock -update", asked, debArch, ErrNoPin)
}

const head = `# What images are made of. Written by "weir-image lock -update"; commit it.
`

// Write writes the file, its pins in a fixed order.
func (f *File) Write(path string) error {
	sorted := *f
	sorted.Pins = slices.SortedFunc(slices.Values(f.Pins), func(a, b Pin) int {
		return strings.Compare(a.For+" "+a.Arch, b.For+" "+b.Arch)
	})
	b, err := toml.Marshal(sorted)
	if err != nil {
		return err
	}
	return atomic.WriteBytes(path, append([]byte(head+"\n"), b...))
}
