package build

import (
	"context"
	"fmt"

	"weir/board"
	"weir/images/fetch"
	"weir/images/lock"
)

// Suite is the Debian release that images are made from.
const Suite = "trixie"

// UpdateLock pins the newest version of every package that a board asks for, and
// fetches it, so that no pin enters the lock file whose bytes were not seen.
func UpdateLock(ctx context.Context, path string, s *fetch.Sources) (*lock.File, error) {
	f := &lock.File{Suite: Suite}
	for _, b := range board.All() {
		if _, err := f.Find(b.KernelPackage, b.DebianArch()); err == nil {
			continue // another board has asked for it
		}
		pin, err := s.Newest(ctx, Suite, b.KernelPackage, b.DebianArch())
		if err != nil {
			return nil, fmt.Errorf("board %s: %w", b.Name, err)
		}
		if _, err := s.Package(ctx, pin); err != nil {
			return nil, fmt.Errorf("board %s: %w", b.Name, err)
		}
		f.Pins = append(f.Pins, pin)
	}
	return f, f.Write(path)
}
