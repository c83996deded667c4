package build

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"weir/images/lock"
	"weir/images/progress"
)

// The files of an image's folder.
const (
	KernelName    = "vmlinuz"
	InitramfsName = "initramfs.cpio.gz"
	ManifestName  = "manifest.json"
)

// Manifest says what an image is made of. It has no times and no paths: equal
// images have equal manifests.
type Manifest struct {
	Board   string `json:"board"`
	Arch    string `json:"arch"`
	Version string `json:"version"`
	Go      string `json:"go"`
	// Locked says that every package is the one that the lock file names.
	Locked bool   `json:"locked"`
	Kernel Kernel `json:"kernel"`
	// Parts are the contents of the initramfs with their sizes before compression.
	Parts []Part `json:"parts"`
	// Files are the files beside the manifest.
	Files []Part `json:"files"`
}

// Kernel is the kernel's release, and the package that it came from.
type Kernel struct {
	Release string   `json:"release"`
	Package lock.Pin `json:"package"`
}

// Part is one part with its length in bytes; SHA256 is set for whole files.
type Part struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
}

func part(name string, data []byte) Part {
	sum := sha256.Sum256(data)
	return Part{Name: name, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
}

func (m *Manifest) add(name string, n int64) {
	m.Parts = append(m.Parts, Part{Name: name, Bytes: n})
}

// JSON is the manifest's file.
func (m *Manifest) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(m, "", "  ")
	return append(b, '\n'), err
}

// release is /etc/weir/release in the image, in the form of os-release(5).
func (m *Manifest) release() string {
	locked := "yes"
	if !m.Locked {
		locked = "no"
	}
	var b strings.Builder
	for _, kv := range [][2]string{
		{"NAME", "Weir"},
		{"VERSION", m.Version},
		{"BOARD", m.Board},
		{"KERNEL", m.Kernel.Release},
		{"KERNEL_PACKAGE", m.Kernel.Package.Name + "=" + m.Kernel.Package.Version},
		{"LOCKED", locked},
	} {
		fmt.Fprintf(&b, "%s=%q\n", kv[0], kv[1])
	}
	return b.String()
}

// Print writes the manifest as a table.
func (m *Manifest) Print(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	for _, p := range m.Parts {
		fmt.Fprintf(tw, "  %s\t%s\t\n", p.Name, progress.Bytes(p.Bytes))
	}
	for _, f := range m.Files {
		fmt.Fprintf(tw, "%s\t%s\t\n", f.Name, progress.Bytes(f.Bytes))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	lockNote := "locked"
	if !m.Locked {
		lockNote = "NOT LOCKED"
	}
	_, err := fmt.Fprintf(w, "%s %s for %s, kernel %s, %s\n", "weir", m.Version, m.Board, m.Kernel.Release, lockNote)
	return err
}
