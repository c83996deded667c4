package kmod

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Tree is the modules of one kernel package.
type Tree struct {
	// Release is the kernel's release, the folder's name below lib/modules.
	Release string
	// Arch is the GOARCH that every module must be for.
	Arch string
	// Files are the modules' paths below lib/modules/RELEASE, for example
	// "kernel/drivers/net/veth.ko.xz".
	Files []string
	// Builtin is the bytes of the package's modules.builtin.
	Builtin []byte
	// Read gives the bytes of one of Files.
	Read func(file string) ([]byte, error)
}

// Module is one chosen module.
type Module struct {
	Info
	File string // path below lib/modules/RELEASE
	Data []byte // as in the package, compressed
}

// Selection is the chosen modules, sorted by file, and what was built in.
type Selection struct {
	Modules []Module
	byName  map[string]*Module
	Builtin []byte
	// Warnings are what may go wrong at boot, one sentence each.
	Warnings []string
}

// Select takes the modules with these names and everything that they depend on,
// soft dependencies included where the package has them. A name that is built
// into the kernel needs no file. All unknown names are reported together.
func (t *Tree) Select(names []string) (*Selection, error) {
	files := make(map[string]string, len(t.Files))
	for _, f := range t.Files {
		files[moduleName(f)] = f
	}
	builtin := builtinNames(t.Builtin)
	chosen := make(map[string]*Module)
	var errs []error
	// visit is true if name is a module now or was built in.
	var visit func(name string) bool
	visit = func(name string) bool {
		name = canonical(name)
		if chosen[name] != nil || builtin[name] {
			return true
		}
		file, ok := files[name]
		if !ok {
			return false
		}
		m, err := t.read(file)
		if err != nil {
			errs = append(errs, err)
			return true
		}
		chosen[name] = m
		for _, d := range m.Depends {
			if !visit(d) {
				errs = append(errs, fmt.Errorf("module %s needs %s, which the kernel package does not have: take another kernel package", name, d))
			}
		}
		for _, d := range slices.Concat(m.SoftPre, m.SoftPost) {
			visit(d) // may be an alias, or absent: that is what makes it soft
		}
		return true
	}
	for _, n := range names {
		if !visit(n) {
			errs = append(errs, fmt.Errorf("module %s does not exist in kernel %s: remove it from the board's list, or correct its name", n, t.Release))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s := newSelection(chosen, t.Builtin)
	s.checkSoft(builtin)
	return s, nil
}

// checkSoft looks for modules that want another one first which is not there.
// Such a wish may be fulfilled by an alias, and may do without: so it is no error.
func (s *Selection) checkSoft(builtin map[string]bool) {
	for i := range s.Modules {
		for _, want := range s.Modules[i].SoftPre {
			if s.byName[canonical(want)] == nil && !builtin[canonical(want)] && !s.hasAlias(want) {
				s.Warnings = append(s.Warnings, fmt.Sprintf(
					"module %s wants %s before it, and nothing in the image provides it: add the module that does to the board's list", s.Modules[i].Name, want))
			}
		}
	}
}

func (s *Selection) hasAlias(name string) bool {
	for i := range s.Modules {
		if slices.Contains(s.Modules[i].Aliases, name) {
			return true
		}
	}
	return false
}

func (t *Tree) read(file string) (*Module, error) {
	data, err := t.Read(file)
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", file, err)
	}
	info, err := readInfo(file, data, t.Arch)
	if err != nil {
		return nil, err
	}
	// The kernel refuses a module whose vermagic is not its own, at boot.
	if rel, _, _ := strings.Cut(info.Vermagic, " "); rel != t.Release {
		return nil, fmt.Errorf("module %s is for kernel %s and not %s: take kernel and modules from one package", file, rel, t.Release)
	}
	return &Module{Info: *info, File: file, Data: data}, nil
}

func newSelection(chosen map[string]*Module, builtin []byte) *Selection {
	s := &Selection{Builtin: builtin, byName: make(map[string]*Module)}
	for _, m := range chosen {
		s.Modules = append(s.Modules, *m)
	}
	slices.SortFunc(s.Modules, func(a, b Module) int { return strings.Compare(a.File, b.File) })
	for i := range s.Modules {
		s.byName[s.Modules[i].Name] = &s.Modules[i]
	}
	return s
}

// builtinNames reads modules.builtin: one path a line.
func builtinNames(b []byte) map[string]bool {
	names := make(map[string]bool)
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" {
			names[moduleName(line)] = true
		}
	}
	return names
}
