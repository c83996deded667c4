package gateway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"weir/board"
	"weir/qemu/machine"
)

// Image is a board's image on disk.
type Image struct {
	Board  *board.Board
	Kernel string
	Initrd string
	// Agent is the lab's half in the guest, for the board's architecture.
	Agent string
}

// Root is the source tree that this program runs in.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	mod := strings.TrimSpace(string(out))
	if err != nil || filepath.Base(mod) != "go.mod" {
		return "", errors.New("this program works in Weir's source tree: change into it")
	}
	return filepath.Dir(mod), nil
}

// ImageIn is the image in dir, or in build/NAME of the source tree if dir is
// empty. It need not exist yet.
func ImageIn(b *board.Board, dir string) (*Image, error) {
	if b.QEMU == nil {
		return nil, fmt.Errorf("QEMU cannot imitate the board %s: choose a qemu- board", b.Name)
	}
	if dir == "" {
		root, err := Root()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(root, "build", b.Name)
	}
	return &Image{
		Board:  b,
		Kernel: filepath.Join(dir, "vmlinuz"),
		Initrd: filepath.Join(dir, "initramfs.cpio.gz"),
		Agent:  filepath.Join(dir, "lab", "weir-agent"),
	}, nil
}

// Build builds the image and the agent. The builder's progress goes to
// standard error, and so does its result: a demo has a result of its own. It
// must run before lab.Enter, since apt does not work in a user namespace.
func (i *Image) Build(ctx context.Context) error {
	root, err := Root()
	if err != nil {
		return err
	}
	if _, err := machine.Program(i.Board.Arch); err != nil {
		return err // before minutes of building
	}
	cmd := exec.CommandContext(ctx, "go", "run", "./images/cmd/weir-image", "build",
		"-board", i.Board.Name, "-o", filepath.Dir(i.Kernel), "-any-version")
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build the image of %s: %w", i.Board.Name, err)
	}
	return i.BuildAgent(ctx)
}

// BuildAgent builds the agent alone.
func (i *Image) BuildAgent(ctx context.Context) error {
	if err := Compile(ctx, i.Board, "./qemu/cmd/weir-agent", i.Agent); err != nil {
		return fmt.Errorf("build the lab's agent: %w", err)
	}
	return nil
}

// Compile builds a program of the source tree for a board; flags are added to
// go build's.
func Compile(ctx context.Context, b *board.Board, pkg, out string, flags ...string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Dir, cmd.Env = root, Environ(b)
	if msg, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, msg)
	}
	return nil
}

// Environ is the environment of a cross build.
func Environ(b *board.Board) []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+b.Arch, "GOARM=7", "GOFLAGS=-buildvcs=false")
}
