package gobuild

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Toolchain is the Go release that compiles the image.
type Toolchain struct {
	Root    string // the module's folder
	GOROOT  string
	Version string // go1.26.0
	modules string // hash input: go.mod and go.sum
}

// keep is the user's settings about where Go fetches from and keeps files. They
// do not change the result: go.sum says what it must be.
var keep = []string{
	"GOAUTH", "GOCACHE", "GOINSECURE", "GOMODCACHE", "GONOPROXY", "GONOSUMDB",
	"GOPATH", "GOPRIVATE", "GOPROXY", "GOSUMDB", "GOTMPDIR", "GOVCS",
}

// fixed is everything that would change the result, at its default.
var fixed = map[string]string{
	"CGO_ENABLED":  "0",
	"GBB_PATH":     "",
	"GBBDEBUG":     "",
	"GO111MODULE":  "",
	"GO386":        "",
	"GOARM":        "7",
	"GOARM64":      "v8.0",
	"GODEBUG":      "",
	"GOENV":        "off",
	"GOEXPERIMENT": "",
	"GOFIPS140":    "off",
	"GOFLAGS":      "",
	"GOOS":         "linux",
	"GOTOOLCHAIN":  "local",
	"GOWORK":       "off",
	"UROOT_SOURCE": "",
}

// Use asks the go command that root's go.mod selects for its settings, and fixes
// this process's environment for all builds.
func Use(ctx context.Context, root string) (*Toolchain, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "-json")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go env: install Go 1.26 and put it on the PATH: %w %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	var env map[string]string
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	t := &Toolchain{Root: root, GOROOT: env["GOROOT"], Version: env["GOVERSION"]}
	for _, k := range keep {
		if env[k] != "" {
			os.Setenv(k, env[k])
		}
	}
	for k, v := range fixed {
		os.Setenv(k, v)
	}
	os.Setenv("GOROOT", t.GOROOT)
	os.Unsetenv("GOARCH")
	for _, f := range []string{"go.mod", "go.sum"} {
		b, err := os.ReadFile(filepath.Join(root, f))
		if err != nil {
			return nil, err
		}
		t.modules += string(b)
	}
	return t, nil
}

// run is one call of the go command in dir. The error of a failed build is the
// compiler's output.
func (t *Toolchain) run(ctx context.Context, dir string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(t.GOROOT, "bin", "go"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	// An interrupt from the terminal reaches the command as well; it removes its
	// temporary files when it may end by itself.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("go %s: %w\n%s", args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Root finds the module's folder from dir upwards.
func Root(dir string) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		b, err := os.ReadFile(filepath.Join(d, "go.mod"))
		if err == nil && strings.HasPrefix(string(b), "module weir\n") {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("%s is not in Weir's source tree: change into it, an image is built from source", dir)
		}
	}
}
