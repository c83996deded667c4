package cmdline

import "strings"

// Line is a parsed command line.
type Line struct{ words []word }

type word struct{ key, value string }

// Parse splits a command line as the kernel does (lib/cmdline.c, next_arg):
// at spaces, except inside double quotes, which are dropped. What follows "--"
// is for init, and kept like the rest.
func Parse(s string) Line {
	var l Line
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		end, quoted := 0, false
		for ; end < len(s) && (quoted || s[end] != ' ' && s[end] != '\t' && s[end] != '\n'); end++ {
			if s[end] == '"' {
				quoted = !quoted
			}
		}
		key, value, _ := strings.Cut(strings.ReplaceAll(s[:end], `"`, ""), "=")
		l.words = append(l.words, word{key, value})
		s = s[end:]
	}
	return l
}

// Value is the value of the last word with this key, and whether there is one.
// A word without "=" has the empty value.
func (l Line) Value(key string) (string, bool) {
	for i := len(l.words) - 1; i >= 0; i-- {
		if l.words[i].key == key {
			return l.words[i].value, true
		}
	}
	return "", false
}

// Has tells whether a word with this key is there.
func (l Line) Has(key string) bool {
	_, ok := l.Value(key)
	return ok
}

// ModuleParams is what the words `module.parameter=value` say for one module,
// in the form finit_module(2) takes. The kernel itself only serves built-in
// modules; "-" and "_" are equal in the module's name.
func (l Line) ModuleParams(module string) string {
	var params []string
	for _, w := range l.words {
		mod, param, ok := strings.Cut(w.key, ".")
		if !ok || strings.ReplaceAll(mod, "-", "_") != strings.ReplaceAll(module, "-", "_") {
			continue
		}
		if w.value != "" {
			param += "=" + quote(w.value)
		}
		params = append(params, param)
	}
	return strings.Join(params, " ")
}

func quote(v string) string {
	if strings.ContainsAny(v, " \t") {
		return `"` + v + `"`
	}
	return v
}
