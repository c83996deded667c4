package kmod

import (
	"bytes"
	"fmt"
)

// Tables are the loader's files, by their name below lib/modules/RELEASE.
func (s *Selection) Tables() map[string][]byte {
	return map[string][]byte{
		"modules.dep":     s.dep(),
		"modules.alias":   s.alias(),
		"modules.softdep": s.softdep(),
		"modules.builtin": s.Builtin,
	}
}

// dep has one line a module: its file, then the files it needs. As depmod writes
// them, what is needed stands to the right of what needs it, so a loader goes
// from right to left.
func (s *Selection) dep() []byte {
	var b bytes.Buffer
	for i := range s.Modules {
		m := &s.Modules[i]
		fmt.Fprintf(&b, "%s:", m.File)
		order := s.order(m)
		for j := len(order) - 1; j >= 0; j-- {
			fmt.Fprintf(&b, " %s", order[j].File)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// order is everything m needs, each after what it needs itself, without m.
func (s *Selection) order(m *Module) []*Module {
	var out []*Module
	seen := map[string]bool{m.Name: true}
	var visit func(*Module)
	visit = func(m *Module) {
		for _, d := range m.Depends {
			dep := s.byName[d]
			if dep == nil || seen[d] { // built in, or already there
				continue
			}
			seen[d] = true
			visit(dep)
			out = append(out, dep)
		}
	}
	visit(m)
	return out
}

func (s *Selection) alias() []byte {
	var b bytes.Buffer
	b.WriteString("# Aliases extracted from modules themselves.\n")
	for i := range s.Modules {
		for _, a := range s.Modules[i].Aliases {
			fmt.Fprintf(&b, "alias %s %s\n", a, s.Modules[i].Name)
		}
	}
	return b.Bytes()
}

func (s *Selection) softdep() []byte {
	var b bytes.Buffer
	b.WriteString("# Soft dependencies extracted from modules themselves.\n")
	for i := range s.Modules {
		m := &s.Modules[i]
		if len(m.SoftPre)+len(m.SoftPost) == 0 {
			continue
		}
		fmt.Fprintf(&b, "softdep %s", m.Name)
		words(&b, "pre:", m.SoftPre)
		words(&b, "post:", m.SoftPost)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func words(b *bytes.Buffer, key string, ws []string) {
	if len(ws) == 0 {
		return
	}
	fmt.Fprintf(b, " %s", key)
	for _, w := range ws {
		fmt.Fprintf(b, " %s", w)
	}
}
