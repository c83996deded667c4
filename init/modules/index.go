package modules

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Index is what depmod knows about the modules of one kernel.
type Index struct {
	modules map[string]module
	builtin map[string]bool
	// aliases by bus, the part of an alias before the first colon: a pattern
	// never has a wildcard there, and the rest of the list need not be tried.
	aliases map[string][]alias
}

type module struct {
	path string   // below the index's folder
	deps []string // names; direct and indirect, in no useful order
}

type alias struct{ pattern, module string }

// ReadIndex reads the index of a folder such as /lib/modules/6.12.0. A file
// that is missing is an empty one, except modules.dep.
func ReadIndex(dir fs.FS) (*Index, error) {
	x := &Index{modules: map[string]module{}, builtin: map[string]bool{}, aliases: map[string][]alias{}}
	err := errors.Join(
		lines(dir, "modules.dep", x.addDep),
		optional(lines(dir, "modules.builtin", func(l string) error {
			x.builtin[Name(l)] = true
			return nil
		})),
		optional(lines(dir, "modules.alias", x.addAlias)),
		// Aliases of what is built in would only lead to what is there already;
		// symbols are not asked for.
	)
	if err != nil {
		return nil, fmt.Errorf("read the module index: %w", err)
	}
	return x, nil
}

func (x *Index) addDep(l string) error {
	file, deps, ok := strings.Cut(l, ":")
	if !ok {
		return fmt.Errorf("no colon in %q", l)
	}
	m := module{path: file}
	for d := range strings.FieldsSeq(deps) {
		m.deps = append(m.deps, Name(d))
	}
	x.modules[Name(file)] = m
	return nil
}

func (x *Index) addAlias(l string) error {
	l, ok := strings.CutPrefix(l, "alias ")
	// The module is the last word: a pattern may have spaces (platform:… soc card).
	end := strings.LastIndexByte(l, ' ')
	if !ok || end <= 0 {
		return fmt.Errorf("not an alias: %q", l)
	}
	a := alias{pattern: norm(l[:end]), module: Name(l[end+1:])}
	b := bus(a.pattern)
	x.aliases[b] = append(x.aliases[b], a)
	return nil
}

// Match names the modules that serve a modalias, in the order of the index,
// each once. A plain name of a module that exists serves itself.
func (x *Index) Match(modalias string) []string {
	want := norm(modalias)
	var names []string
	seen := map[string]bool{}
	add := func(n string) {
		if !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	if _, ok := x.modules[want]; ok {
		add(want)
	}
	for _, a := range x.aliases[bus(want)] {
		if glob(a.pattern, want) {
			add(a.module)
		}
	}
	return names
}

// Known tells whether a module of this name is in the index or built in.
func (x *Index) Known(name string) bool {
	name = Name(name)
	_, ok := x.modules[name]
	return ok || x.builtin[name]
}

// Name is the name by which the kernel knows a module file: without folder and
// suffixes, with "_" for "-".
func Name(file string) string {
	n, _, _ := strings.Cut(path.Base(file), ".ko")
	return strings.ReplaceAll(n, "-", "_")
}

func bus(alias string) string {
	b, _, ok := strings.Cut(alias, ":")
	if !ok {
		return "" // names such as net-pf-16 share one list
	}
	return b
}

func optional(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// lines calls f for each line of a file that is neither empty nor a comment.
func lines(dir fs.FS, name string, f func(string) error) error {
	file, err := dir.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReader(file)
	for {
		l, err := r.ReadString('\n')
		if l = strings.TrimSpace(l); l != "" && l[0] != '#' {
			if err := f(l); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}
