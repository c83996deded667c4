package kmod

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"strings"

	"github.com/ulikunitz/xz"

	"weir/images/arch"
)

// Info is what a module says about itself. Names have underscores throughout,
// as the kernel has them.
type Info struct {
	Name     string
	Depends  []string // direct, by name
	Aliases  []string // patterns, without the module's own name
	SoftPre  []string // names or aliases to try before
	SoftPost []string // and after
	Vermagic string
}

// maxModule bounds what a module may unpack to; the largest of Debian's are
// below 20 MB.
const maxModule = 128 << 20

// readInfo reads the .modinfo section of a module file (.ko or .ko.xz), refusing
// one for another architecture.
func readInfo(file string, data []byte, goarch string) (*Info, error) {
	if strings.HasSuffix(file, ".xz") {
		zr, err := xz.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("module %s: %w", file, err)
		}
		if data, err = io.ReadAll(io.LimitReader(zr, maxModule)); err != nil {
			return nil, fmt.Errorf("module %s: %w", file, err)
		}
	}
	if err := arch.CheckELF("module "+file, data, goarch); err != nil {
		return nil, err
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", file, err)
	}
	sec := f.Section(".modinfo")
	if sec == nil {
		return nil, fmt.Errorf("module %s has no .modinfo section: it is no kernel module", file)
	}
	raw, err := sec.Data()
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", file, err)
	}
	info := parseInfo(raw)
	if info.Name == "" {
		info.Name = moduleName(file)
	}
	return info, nil
}

// parseInfo reads NUL-separated key=value strings (include/linux/moduleparam.h).
func parseInfo(raw []byte) *Info {
	info := new(Info)
	for _, kv := range bytes.Split(raw, []byte{0}) {
		k, v, ok := strings.Cut(string(kv), "=")
		if !ok {
			continue
		}
		switch k {
		case "name":
			info.Name = canonical(v)
		case "depends":
			for _, d := range strings.Split(v, ",") {
				if d != "" {
					info.Depends = append(info.Depends, canonical(d))
				}
			}
		case "alias":
			info.Aliases = append(info.Aliases, v)
		case "softdep":
			info.addSoft(v)
		case "vermagic":
			info.Vermagic = v
		}
	}
	return info
}

// addSoft reads "pre: a b post: c".
func (info *Info) addSoft(v string) {
	var to *[]string
	for _, w := range strings.Fields(v) {
		switch w {
		case "pre:":
			to = &info.SoftPre
		case "post:":
			to = &info.SoftPost
		default:
			if to != nil {
				*to = append(*to, w)
			}
		}
	}
}

// canonical is the kernel's spelling of a module's name.
func canonical(name string) string { return strings.ReplaceAll(name, "-", "_") }

// moduleName is the name of the module in a file: base name without extensions.
func moduleName(file string) string {
	base := file[strings.LastIndexByte(file, '/')+1:]
	base, _, _ = strings.Cut(base, ".ko")
	return canonical(base)
}

// IsModule reports whether a file of a kernel package is a module.
func IsModule(file string) bool {
	return strings.HasSuffix(file, ".ko") || strings.HasSuffix(file, ".ko.xz")
}
