package archive

import (
	"cmp"
	"strings"
)

// CompareVersions orders Debian versions (deb-version(7)): negative if a is
// older than b.
func CompareVersions(a, b string) int {
	ea, ua, ra := splitVersion(a)
	eb, ub, rb := splitVersion(b)
	return cmp.Or(comparePart(ea, eb), comparePart(ua, ub), comparePart(ra, rb))
}

// splitVersion is epoch, upstream version, revision.
func splitVersion(v string) (epoch, upstream, revision string) {
	epoch, upstream, ok := strings.Cut(v, ":")
	if !ok {
		epoch, upstream = "0", v
	}
	if i := strings.LastIndexByte(upstream, '-'); i >= 0 {
		upstream, revision = upstream[:i], upstream[i+1:]
	}
	return epoch, upstream, revision
}

// comparePart goes through alternating runs of other characters and digits.
func comparePart(a, b string) int {
	for a != "" || b != "" {
		i, j := 0, 0
		for i < len(a) && !digit(a[i]) || j < len(b) && !digit(b[j]) {
			if c := cmp.Compare(order(a, i), order(b, j)); c != 0 {
				return c
			}
			i, j = i+1, j+1
		}
		a, b = a[min(i, len(a)):], b[min(j, len(b)):]
		na, nb := strings.TrimLeft(digits(a), "0"), strings.TrimLeft(digits(b), "0")
		if c := cmp.Or(cmp.Compare(len(na), len(nb)), cmp.Compare(na, nb)); c != 0 {
			return c
		}
		a, b = a[len(digits(a)):], b[len(digits(b)):]
	}
	return 0
}

// order of the character at i: ~ sorts before the end, the end and digits before
// letters, letters before the rest.
func order(s string, i int) int {
	switch {
	case i >= len(s) || digit(s[i]):
		return 0
	case s[i] == '~':
		return -1
	case s[i] >= 'A' && s[i] <= 'Z', s[i] >= 'a' && s[i] <= 'z':
		return int(s[i])
	}
	return int(s[i]) + 256
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// digits is the run of digits that s begins with.
func digits(s string) string {
	i := 0
	for i < len(s) && digit(s[i]) {
		i++
	}
	return s[:i]
}
