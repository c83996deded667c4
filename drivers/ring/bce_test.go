package ring

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weir/internal/testenv"
)

// use instantiates what the packet path uses, so that the compiler reports on
// it: a generic method is compiled where it is used.
const use = `package ring

func use(a *Producer[uint64], b *Producer[Desc], c *Consumer[uint64], d *Consumer[Desc], s *SPSC[Desc], v []Desc) {
	for i := range a.Free(64) {
		a.Set(i, c.Get(i))
	}
	for i := range b.Free(64) {
		b.Set(i, d.Get(i))
	}
	s.Push(v)
	s.Pop(v)
}
`

// The compiler finds no access to a ring's entries that it has to check, on any
// architecture that Weir runs on. It needs the Go toolchain and the sources.
func TestNoBoundsChecks(t *testing.T) {
	testenv.Need(t, "go")
	dir := t.TempDir()
	for _, f := range []string{"shared.go", "producer.go", "consumer.go", "spsc.go"} {
		b, err := os.ReadFile(f)
		if err != nil {
			testenv.Missing(t, "the package's sources are not here: %v", err)
		}
		if err := os.WriteFile(filepath.Join(dir, f), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"use.go": use, "go.mod": "module ring\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, arch := range []string{"arm64", "arm", "amd64"} {
		cmd := exec.Command("go", "build", "-gcflags=-d=ssa/check_bce", ".")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOARCH="+arch, "GOWORK=off", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", arch, err, out)
		}
		if strings.Contains(string(out), "Found Is") {
			t.Errorf("%s: bounds checks:\n%s", arch, out)
		}
	}
}
