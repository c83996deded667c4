package modules

import "strings"

// norm makes "-" equal to "_" as kmod does (libkmod-util.c, alias_normalize):
// everywhere but inside brackets.
func norm(s string) string {
	if !strings.Contains(s, "-") {
		return s
	}
	b, in := []byte(s), false
	for i, c := range b {
		switch {
		case c == '[':
			in = true
		case c == ']':
			in = false
		case c == '-' && !in:
			b[i] = '_'
		}
	}
	return string(b)
}

// glob matches a pattern of modules.alias: "*" any text, "?" any byte, [a-f0]
// one of a set. Never exponential: only the last "*" is ever tried again. A
// bracket without its end is a plain byte.
func glob(pattern, s string) bool {
	p, i := 0, 0
	star, resume := -1, 0
	for i < len(s) {
		if p < len(pattern) {
			switch c := pattern[p]; {
			case c == '*':
				star, resume = p, i
				p++
				continue
			case c == '?':
				p, i = p+1, i+1
				continue
			case c == '[':
				if end := strings.IndexByte(pattern[p:], ']'); end > 0 {
					if inSet(pattern[p+1:p+end], s[i]) {
						p, i = p+end+1, i+1
						continue
					}
					break
				}
				fallthrough
			default:
				if c == s[i] {
					p, i = p+1, i+1
					continue
				}
			}
		}
		if star < 0 {
			return false
		}
		resume++
		p, i = star+1, resume
	}
	return strings.Trim(pattern[p:], "*") == ""
}

func inSet(set string, c byte) bool {
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			if set[i] <= c && c <= set[i+2] {
				return true
			}
			i += 2
		} else if set[i] == c {
			return true
		}
	}
	return false
}
