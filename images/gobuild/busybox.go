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

	"github.com/u-root/gobusybox/src/pkg/golang"
	"github.com/u-root/mkuimage/uimage/builder"
	"github.com/u-root/mkuimage/uimage/initramfs"
	"github.com/u-root/uio/llog"

	"weir/images/arch"
)

// commandsPrefix is where the commands of u-root are.
const commandsPrefix = "github.com/u-root/u-root/cmds/"

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
	return append([]string{"busybox 1", t.Version, goarch, t.modules}, cmds...)
}

// Busybox compiles the commands into one binary, which runs the one that it is
// called as. It takes half a minute: mkuimage rewrites every command's source
// and compiles all of it anew.
func (t *Toolchain) Busybox(ctx context.Context, goarch string, cmds []string, w io.Writer) error {
	// A folder of a fixed name in a new one: mkuimage wants an empty folder.
	tmp, err := os.MkdirTemp("", "weir-busybox-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	env := golang.Default(
		golang.DisableCGO(),
		golang.WithGOROOT(t.GOROOT),
		golang.WithGOOS("linux"),
		golang.WithGOARCH(goarch),
		golang.WithGOPATH(os.Getenv("GOPATH")),
		golang.WithMod(golang.ModReadonly),
		golang.WithWorkingDir(t.Root),
	)
	// What the library has to say besides its error is of no use to our user.
	quiet := &llog.Logger{Sink: llog.SinkFor(func(string, ...any) {})}
	files := initramfs.NewFiles()
	done := make(chan error, 1)
	go func() {
		done <- builder.Busybox.Build(quiet, files, builder.Opts{
			Env:       env,
			BuildOpts: &golang.BuildOpts{EnableInlining: true, ExtraArgs: []string{"-buildvcs=false"}},
			Packages:  cmds,
			TempDir:   tmp,
			BinaryDir: "bbin",
		})
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		// The library takes no context. An interrupt reaches its compiler as well
		// when it comes from the terminal, so this does not wait long.
		<-done
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("u-root's commands: %w", err)
	}
	b, err := os.ReadFile(files.Files["bbin/bb"])
	if err != nil {
		return fmt.Errorf("u-root's commands: %w", err)
	}
	if err := arch.CheckELF("busybox", b, goarch); err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// CommandName is the name by which a command is called.
func CommandName(pkg string) string { return path.Base(pkg) }
