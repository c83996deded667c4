package archive

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ulikunitz/xz"
)

// Package is one entry of a Packages index, as far as we need it.
type Package struct {
	Name, Version, Architecture string
	Depends                     []string // names only, of the first alternative
	Filename                    string   // below the archive's base
	File
}

// IndexPath is the path of an index below the suite's folder, as in Release.Files.
func IndexPath(component, debArch string) string {
	return component + "/binary-" + debArch + "/Packages.xz"
}

// ReadPackages reads a Packages.xz and keeps the entries that keep wants.
func ReadPackages(r io.Reader, keep func(name string) bool) ([]Package, error) {
	zr, err := xz.NewReader(bufio.NewReaderSize(r, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("packages index: %w", err)
	}
	ps, err := parsePackages(zr, keep)
	if err != nil {
		return nil, fmt.Errorf("packages index: %w", err)
	}
	return ps, nil
}

func parsePackages(r io.Reader, keep func(name string) bool) ([]Package, error) {
	var out []Package
	var p Package
	wanted := false
	flush := func() {
		if wanted {
			out = append(out, p)
		}
		p, wanted = Package{}, false
	}
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 64<<10), 4<<20)
	for sc.Scan() {
		line := sc.Text()
		if line == "" {
			flush()
			continue
		}
		key, value, ok := strings.Cut(line, ": ")
		if !ok || line[0] == ' ' {
			continue
		}
		if key == "Package" {
			p.Name, wanted = value, keep(value)
			continue
		}
		if !wanted {
			continue
		}
		if err := p.field(key, value); err != nil {
			return nil, fmt.Errorf("package %s: %w", p.Name, err)
		}
	}
	flush()
	return out, sc.Err()
}

func (p *Package) field(key, value string) (err error) {
	switch key {
	case "Version":
		p.Version = value
	case "Architecture":
		p.Architecture = value
	case "Depends":
		for _, d := range strings.Split(value, ",") {
			if f := strings.Fields(d); len(f) > 0 {
				name, _, _ := strings.Cut(f[0], ":")
				p.Depends = append(p.Depends, name)
			}
		}
	case "Filename":
		p.Filename = value
	case "Size":
		p.Size, err = strconv.ParseInt(value, 10, 64)
	case "SHA256":
		p.SHA256 = value
	}
	return err
}

// Newest is the entry with the highest version, nil of none.
func Newest(ps []Package, name string) *Package {
	var best *Package
	for i := range ps {
		if ps[i].Name == name && (best == nil || CompareVersions(ps[i].Version, best.Version) > 0) {
			best = &ps[i]
		}
	}
	return best
}
