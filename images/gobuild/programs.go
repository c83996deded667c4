package gobuild

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"weir/images/arch"
)

// Programs compiles main packages of this module (import paths below "weir/",
// with different last elements) into static binaries, by last element.
func (t *Toolchain) Programs(ctx context.Context, goarch, version string, pkgs []string) (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "weir-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	args := []string{
		"build", "-trimpath", "-buildvcs=false", "-mod=readonly",
		"-ldflags=-s -w -buildid= -X weir/internal/version.Version=" + version,
		"-o", dir + string(filepath.Separator),
	}
	for _, p := range pkgs {
		args = append(args, "weir/"+p)
	}
	if err := t.run(ctx, t.Root, []string{"GOARCH=" + goarch}, args...); err != nil {
		return nil, err
	}
	out := make(map[string][]byte)
	for _, p := range pkgs {
		name := path.Base(p)
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("weir/%s is no main package: %w", p, err)
		}
		if err := arch.CheckELF(name, b, goarch); err != nil {
			return nil, err
		}
		out[name] = b
	}
	return out, nil
}
