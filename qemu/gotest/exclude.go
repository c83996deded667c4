package gotest

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed exclude.txt
var excludeText string

// exclusion is one line of exclude.txt.
type exclusion struct{ pkg, test, reason string }

// parseExclusions reads lines "PACKAGE TEST REASON…".
func parseExclusions(text string) ([]exclusion, error) {
	var all []exclusion
	n := 0
	for l := range strings.Lines(text) {
		n++
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '#' {
			continue
		}
		f := strings.Fields(l)
		if len(f) < 3 {
			return nil, fmt.Errorf("exclude.txt:%d: %q: want PACKAGE, TEST or *, and a reason", n, l)
		}
		all = append(all, exclusion{f[0], f[1], strings.Join(f[2:], " ")})
	}
	return all, nil
}

// covers says whether e excludes a test; test "*" asks for the whole package.
func (e exclusion) covers(pkg, test string) bool {
	if base, all := strings.CutSuffix(e.pkg, "/..."); all {
		if pkg != base && !strings.HasPrefix(pkg, base+"/") {
			return false
		}
	} else if pkg != e.pkg {
		return false
	}
	return e.test == "*" || e.test == test || strings.HasPrefix(test, e.test+"/")
}

// find returns the reason why a test is excluded.
func find(list []exclusion, pkg, test string) (reason string, ok bool) {
	for _, e := range list {
		if e.covers(pkg, test) {
			return e.reason, true
		}
	}
	return "", false
}
