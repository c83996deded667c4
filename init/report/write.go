package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// A Writer owns the report of this boot and keeps the file equal to it. It may
// be used concurrently.
type Writer struct {
	path string

	mu sync.Mutex
	r  Report
}

// NewWriter returns a Writer of the file path, which is made at the first
// Update; its folder must be there by then.
func NewWriter(path string) *Writer { return &Writer{path: path} }

// Update changes the report and writes it: a reader sees the whole of it before
// or after, never a part. change must not keep the pointer.
func (w *Writer) Update(change func(*Report)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.r)
	b, err := json.MarshalIndent(w.r, "", "\t")
	if err != nil {
		return fmt.Errorf("write the boot report: %w", err)
	}
	return replace(w.path, append(b, '\n'))
}

// Get returns a copy that the caller may keep.
func (w *Writer) Get() Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.r
	r.Faults, r.Steps = slices.Clone(r.Faults), slices.Clone(r.Steps)
	r.Ports, r.Services = slices.Clone(r.Ports), slices.Clone(r.Services)
	return r
}

// Read reads the report of the running system.
func Read(path string) (Report, error) {
	var r Report
	b, err := os.ReadFile(path)
	if err != nil {
		return r, fmt.Errorf("read the boot report: %w", err)
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("read the boot report %s: %w", path, err)
	}
	return r, nil
}

// replace writes a file in one step. It does not sync: /run is memory.
func replace(path string, b []byte) error {
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		os.Remove(tmp)
		return fmt.Errorf("write the boot report: %w", err)
	}
	if err := os.Rename(tmp, path); err != nil {
		os.Remove(tmp)
		return fmt.Errorf("write the boot report: %w", err)
	}
	return nil
}
