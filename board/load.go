package board

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed */board.toml */weir.toml
var data embed.FS

// All is every board, sorted by name. Callers do not modify what it returns.
func All() []*Board { return all() }

var all = sync.OnceValue(func() []*Board {
	bs, err := load(data)
	if err != nil {
		// The data is part of the program and a test loads it: there is no user who
		// could do anything about it.
		panic(err)
	}
	return bs
})

// load reads every folder of fsys that has a board.toml.
func load(fsys fs.FS) ([]*Board, error) {
	files, err := fs.Glob(fsys, "*/board.toml") // sorted
	if err != nil {
		return nil, err
	}
	var bs []*Board
	for _, file := range files {
		b, err := loadOne(fsys, file)
		if err != nil {
			return nil, fmt.Errorf("board data: %w", err)
		}
		bs = append(bs, b)
	}
	return bs, nil
}

func loadOne(fsys fs.FS, file string) (*Board, error) {
	raw, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, err
	}
	b := new(Board)
	if err := toml.NewDecoder(bytes.NewReader(raw)).DisallowUnknownFields().Decode(b); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	folder := file[:len(file)-len("/board.toml")]
	if err := b.check(folder); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if b.DefaultConfig, err = fs.ReadFile(fsys, folder+"/weir.toml"); err != nil {
		return nil, err
	}
	return b, nil
}

// check holds what every board must say.
func (b *Board) check(folder string) error {
	switch {
	case b.Name != folder:
		return fmt.Errorf("name is %q: write the folder's name, %q", b.Name, folder)
	case b.Arch != "arm64" && b.Arch != "arm":
		return fmt.Errorf("arch is %q: write arm64 or arm", b.Arch)
	case b.KernelPackage == "":
		return fmt.Errorf("kernel is missing: name the Debian package")
	case len(b.Consoles) == 0:
		return fmt.Errorf("consoles is empty: name at least the kernel's console")
	}
	seen := make(map[string]bool)
	for _, p := range b.Ports {
		if p.Label == "" || seen[p.Label] {
			return fmt.Errorf("port label %q is empty or used twice", p.Label)
		}
		seen[p.Label] = true
		n := 0
		for _, m := range []string{p.Match.MAC, p.Match.DT, p.Match.PCI} {
			if m != "" {
				n++
			}
		}
		if n != 1 {
			return fmt.Errorf("port %s is matched by %d keys: write one of mac, dt, pci", p.Label, n)
		}
	}
	return nil
}
