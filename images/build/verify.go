package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"weir/images/lock"
)

// ErrAltered: an image is not what its manifest says.
var ErrAltered = errors.New("image is not what its manifest says")

// Verify holds an image folder against its manifest, and the manifest against
// the lock file.
func Verify(dir string, pins *lock.File) (*Manifest, error) {
	raw, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if err != nil {
		return nil, fmt.Errorf("no image in %s: build one with weir-image build: %w", dir, err)
	}
	m := new(Manifest)
	if err := json.Unmarshal(raw, m); err != nil {
		return nil, fmt.Errorf("%s in %s: build the image again: %w", ManifestName, dir, err)
	}
	var errs []error
	names := make(map[string]bool)
	for _, f := range m.Files {
		names[f.Name] = true
		data, err := os.ReadFile(filepath.Join(dir, filepath.Base(f.Name)))
		if err != nil {
			errs = append(errs, err)
		} else if got := part(f.Name, data); got != f {
			errs = append(errs, fmt.Errorf("%s has %d bytes and SHA-256 %s, the manifest says %d and %s: build it again: %w",
				filepath.Join(dir, f.Name), got.Bytes, got.SHA256, f.Bytes, f.SHA256, ErrAltered))
		}
	}
	for _, name := range []string{KernelName, InitramfsName} {
		if !names[name] {
			errs = append(errs, fmt.Errorf("the manifest in %s does not name %s: build the image again: %w", dir, name, ErrAltered))
		}
	}
	p := m.Kernel.Package
	if pin, err := pins.Find(p.For, p.Arch); m.Locked && (err != nil || pin.SHA256 != p.SHA256) {
		errs = append(errs, fmt.Errorf("image in %s has %s %s, which the lock file does not name any more: build it again: %w", dir, p.Name, p.Version, ErrAltered))
	}
	return m, errors.Join(errs...)
}
