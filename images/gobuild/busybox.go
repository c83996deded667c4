package gobuild

import (
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/u-root/gobusybox/src/pkg/bb"
	"github.com/u-root/gobusybox/src/pkg/bb/findpkg"
	"github.com/u-root/gobusybox/src/pkg/golang"
	"github.com/u-root/uio/ulog"

	"weir/images/arch"
)

// commandsPrefix is where the commands of u-root are.
const commandsPrefix = "github.com/u-root/u-root/cmds/"

// shellTag makes u-root's gosh read its lines from the terminal as the kernel
// edits them. Its other line editors do not fit a serial console: one asks the
// terminal questions and hangs after some commands, the other keeps the terminal
// raw, so that Ctrl-C ends no running command.
const shellTag = "goshsmall"

// Commands are the import paths of the u-root commands that tools.go names, in
// its order. That file is the one list, because go.sum must cover them.
func (t *Toolchain) Commands() ([]string, error) {
	file := filepath.Join(t.Root, "tools.go")
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		return nil, fmt.Errorf("list of u-root's commands: %w", err)
	}
	var cmds []string
	for _, imp := range f.Imports {
		p, err := strconv.Unquote(imp.Path.Value)
		if err == nil && strings.HasPrefix(p, commandsPrefix) {
			cmds = append(cmds, p)
		}
	}
	if len(cmds) == 0 {
		return nil, fmt.Errorf("%s imports no command below %s: add one", file, commandsPrefix)
	}
	return cmds, nil
}

// BusyboxInputs is everything the busybox depends on, for images/cache.
func (t *Toolchain) BusyboxInputs(goarch string, cmds []string) []string {
	return append([]string{"busybox 3", shellTag, t.Version, goarch, t.modules}, cmds...)
}

// Busybox compiles the commands into one binary, which runs the one that it is
// called as. The library behind mkuimage's own builder writes the source; the
// builder itself would then compile everything anew, the standard library
// included (-a), where we use what the build cache has from Weir's programs.
func (t *Toolchain) Busybox(ctx context.Context, goarch string, cmds []string, w io.Writer) error {
	tmp, err := os.MkdirTemp("", "weir-busybox-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := t.generate(goarch, cmds, tmp); err != nil {
		return fmt.Errorf("u-root's commands: %w", err)
	}
	// The generated tree is a GOPATH: the versions were settled when it was written,
	// by this module's go.mod.
	bin := filepath.Join(tmp, "bb")
	err = t.run(ctx, filepath.Join(tmp, "src", "bb.u-root.com", "bb"), []string{"GOARCH=" + goarch, "GO111MODULE=off", "GOPATH=" + tmp},
		"build", "-trimpath", "-buildvcs=false", "-tags", shellTag, "-ldflags=-s -w -buildid=", "-o", bin, ".")
	if err != nil {
		return fmt.Errorf("u-root's commands: %w", err)
	}
	b, err := os.ReadFile(bin)
	if err != nil {
		return fmt.Errorf("u-root's commands: %w", err)
	}
	if err := arch.CheckELF("busybox", b, goarch); err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// generate writes the busybox's source below dir. The library takes no context;
// it needs a few seconds.
func (t *Toolchain) generate(goarch string, cmds []string, dir string) error {
	// What it has to say besides its error is of no use to our user.
	quiet := ulog.Null
	return bb.BuildBusybox(quiet, &bb.Opts{
		Env: golang.Default(
			golang.DisableCGO(),
			golang.WithGOROOT(t.GOROOT),
			golang.WithGOOS("linux"),
			golang.WithGOARCH(goarch),
			golang.WithBuildTag(shellTag),
			golang.WithGOPATH(os.Getenv("GOPATH")),
			golang.WithMod(golang.ModReadonly),
			golang.WithWorkingDir(t.Root),
		),
		LookupEnv:    &findpkg.Env{},
		GenSrcDir:    dir,
		CommandPaths: cmds,
		GenerateOnly: true,
	})
}

// CommandName is the name by which a command is called.
func CommandName(pkg string) string { return path.Base(pkg) }
