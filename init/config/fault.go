package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing wrong with a file: where, what, and what to do about it.
type Fault struct {
	File   string `json:"file"`   // as given to Parse
	Line   int    `json:"line"`   // from 1
	Column int    `json:"column"` // in bytes, from 1
	// Key is the path of the key, for example "port[1].address[0]", counted from
	// 0; empty for a fault of the whole file.
	Key     string `json:"key"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy"`
}

// Error is the fault as one line: "weir.toml:7:1: port[0].adress: unknown key; write address".
func (f Fault) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: ", f.File, f.Line, f.Column)
	if f.Key != "" {
		fmt.Fprintf(&b, "%s: ", f.Key)
	}
	b.WriteString(f.Problem)
	if f.Remedy != "" {
		fmt.Fprintf(&b, "; %s", f.Remedy)
	}
	return b.String()
}

// Faults are all the faults of one file, in the order of the file. As an error
// it prints one fault a line. An empty Faults is no error: test its length, or
// use Err, and do not assign it to an error variable.
type Faults []Fault

func (fs Faults) Error() string { return strings.Join(fs.Lines(), "\n") }

// Lines has one line for each fault.
func (fs Faults) Lines() []string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return lines
}

// Err is the faults as an error, nil if there are none.
func (fs Faults) Err() error {
	if len(fs) == 0 {
		return nil
	}
	return fs
}

func (fs Faults) sort() {
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
