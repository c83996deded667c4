package modules

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrMissing is a module that is neither in the image nor built into the
// kernel.
var ErrMissing = errors.New("not in the image and not built in: add it to the board's list and build the image again")

// A Loader loads modules and remembers which, so that nothing is tried twice.
type Loader struct {
	Index *Index
	// Insert loads one file of the index's folder with its parameters. EEXIST
	// means that it is loaded already.
	Insert func(file, params string) error
	// Params gives the parameters of a module; may be nil.
	Params func(name string) string

	tried map[string]error
	names []string
}

// Load loads a module and before it everything it depends on. A module that
// failed once is not tried again: its error is returned each time. After the
// end of ctx nothing is begun.
func (l *Loader) Load(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("module %s: %w", name, err)
	}
	if l.tried == nil {
		l.tried = map[string]error{}
	}
	name = Name(name)
	if err, ok := l.tried[name]; ok {
		return err
	}
	l.tried[name] = nil // ends a circle of dependencies
	err := l.load(ctx, name)
	if err != nil {
		err = fmt.Errorf("module %s: %w", name, err)
	}
	l.tried[name] = err
	return err
}

func (l *Loader) load(ctx context.Context, name string) error {
	m, ok := l.Index.modules[name]
	if !ok {
		if l.Index.builtin[name] {
			return nil
		}
		return ErrMissing
	}
	for _, d := range m.deps {
		if err := l.Load(ctx, d); err != nil {
			return fmt.Errorf("needs %w", err)
		}
	}
	var params string
	if l.Params != nil {
		params = l.Params(name)
	}
	switch err := l.Insert(m.path, params); {
	case errors.Is(err, unix.EEXIST):
		return nil
	case err != nil:
		return explain(err)
	}
	l.names = append(l.names, name)
	return nil
}

// Loaded names the modules that this Loader put into the kernel, in order.
func (l *Loader) Loaded() []string { return l.names }

// Kernel inserts files of dir, such as /lib/modules/6.12.0, into the kernel.
func Kernel(dir string) func(file, params string) error {
	return func(file, params string) error {
		f, err := os.Open(filepath.Join(dir, file))
		if errors.Is(err, os.ErrNotExist) {
			return ErrMissing // the index is of more than the image has
		} else if err != nil {
			return err
		}
		defer f.Close()
		flags := 0
		if !strings.HasSuffix(file, ".ko") {
			flags = unix.MODULE_INIT_COMPRESSED_FILE
		}
		return unix.FinitModule(int(f.Fd()), params, flags)
	}
}

// explain says what the kernel's answer means for a module.
func explain(err error) error {
	switch {
	case errors.Is(err, unix.ENOEXEC):
		return fmt.Errorf("not for this kernel or this processor: build the image again: %w", err)
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("a symbol or file is missing: see dmesg: %w", err)
	case errors.Is(err, unix.EKEYREJECTED):
		return fmt.Errorf("the kernel only takes signed modules: %w", err)
	case errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("the kernel cannot unpack this compression: %w", err)
	}
	return err
}
