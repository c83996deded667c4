package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// A file is read in two passes: this one turns TOML into a tree that remembers
// where everything stood, the next one (decode.go) takes the schema's keys out
// of the tree. go-toml's own decoder stops at the first fault, and forgets
// positions of what it could decode.

type kind uint8

const (
	kindString kind = iota
	kindInteger
	kindFloat
	kindBool
	kindTime // any of TOML's dates and times
	kindArray
	kindTable
	kindTables // [[name]]: an array of tables, in elems
)

var kindNames = [...]string{
	"a string", "a whole number", "a fraction", "true or false", "a date or time", "an array", "a table", "a list of tables",
}

func (k kind) String() string { return kindNames[k] }

// pos is a place in the file, both from 1.
type pos struct{ line, column int }

// value is a TOML value and where it stood.
type value struct {
	kind  kind
	at    pos
	text  string   // a string's value, any other scalar as written
	elems []*value // of an array, or the tables of a list of tables
	keys  []entry  // of a table, in the order of the file
	byKey map[string]int
	how   origin
}

// entry is a key of a table with its value.
type entry struct {
	name string
	at   pos
	val  *value
}

// origin is how a table came about, which decides who may still add to it
// (TOML 1.0, "Table" and "Inline Table").
type origin uint8

const (
	implied origin = iota // as the parent of [a.b]
	header                // by [a] or as an element of [[a]]
	dotted                // by a.b = 1
	inline                // { }
)

func newTable(at pos, how origin) *value {
	return &value{kind: kindTable, at: at, how: how, byKey: map[string]int{}}
}

func (v *value) get(name string) *entry {
	if i, ok := v.byKey[name]; ok {
		return &v.keys[i]
	}
	return nil
}

func (v *value) put(name string, at pos, val *value) {
	v.byKey[name] = len(v.keys)
	v.keys = append(v.keys, entry{name, at, val})
}

// builder makes the tree, and faults what stands in the file twice.
type builder struct {
	*reader
	p     unstable.Parser
	lines []int // offset of each line's first byte
}

// build returns the root of the tree of data, or a syntax fault.
func (r *reader) build(data []byte) *value {
	b := builder{reader: r, lines: []int{0}}
	for i, c := range data {
		if c == '\n' {
			b.lines = append(b.lines, i+1)
		}
	}
	root := newTable(pos{1, 1}, header)
	current, path := root, ""
	b.p.Reset(data)
	for b.p.NextExpression() {
		switch e := b.p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			current, path = b.header(root, e)
		case unstable.KeyValue:
			b.keyValue(current, path, e)
		}
	}
	if err := b.p.Error(); err != nil {
		b.syntax(data, err)
		return nil
	}
	return root
}

// syntax reports what the TOML parser stopped at. It is the only fault then:
// what stands after it was not read, so that nothing can be said to be missing.
func (b *builder) syntax(data []byte, err error) {
	at, problem := pos{1, 1}, err.Error()
	var pe *unstable.ParserError
	if errors.As(err, &pe) {
		problem = pe.Message
		// The highlight is a part of data; its capacity says which.
		if off := cap(data) - cap(pe.Highlight); off >= 0 && off <= len(data) {
			at = b.position(off)
		}
	}
	b.faults = nil
	b.fault(spot{at, ""}, problem, syntaxRemedy(problem))
}

func syntaxRemedy(problem string) string {
	switch {
	case strings.Contains(problem, "start of value"), strings.Contains(problem, "keyword"):
		return `put strings in double quotes, as in label = "wan"`
	case strings.Contains(problem, "'='"):
		return `write key = value, one a line, and tables as [[port]]`
	case strings.Contains(problem, "incomplete"), strings.Contains(problem, "end of input"),
		strings.Contains(problem, "unterminated"), strings.Contains(problem, "to close"):
		return "finish the line, or close the bracket or quote opened before it"
	case strings.Contains(problem, "','"):
		return "put a comma between two values"
	case strings.Contains(problem, "newline"):
		return "end the line after the value"
	}
	return "mend the line to be TOML, as in key = \"value\""
}

func (b *builder) position(off int) pos {
	i := sort.SearchInts(b.lines, off+1) - 1
	return pos{i + 1, off - b.lines[i] + 1}
}

// headerAt is where a header's opening bracket stands.
func (b *builder) headerAt(key *unstable.Node) pos {
	off := int(key.Raw.Offset)
	for off > 0 && bytes.IndexByte([]byte("[ \t"), b.p.Data()[off-1]) >= 0 {
		off--
	}
	at := b.position(off)
	for b.p.Data()[off] != '[' { // blanks before the header
		off++
		at.column++
	}
	return at
}

// header follows [a.b] or [[a.b]] from the root, and returns the table that
// the key-values after it go into. After a fault that is a table in no tree.
func (b *builder) header(root *value, e *unstable.Node) (*value, string) {
	t, path := root, ""
	var at pos
	if b.deep(e) {
		return newTable(at, header), path
	}
	for it := e.Key(); it.Next(); {
		k := it.Node()
		name := string(k.Data)
		if path == "" {
			at = b.headerAt(k)
		}
		path = join(path, name)
		old := t.get(name)
		switch {
		case !it.IsLast():
			if old == nil {
				old = b.add(t, name, at, newTable(at, implied))
			}
			next := old.val
			if next.kind == kindTables {
				path = fmt.Sprintf("%s[%d]", path, len(next.elems)-1)
				next = next.elems[len(next.elems)-1]
			}
			if next.kind != kindTable || next.how == inline {
				return b.twice(at, path, old)
			}
			t = next
		case e.Kind == unstable.ArrayTable:
			if old == nil {
				old = b.add(t, name, at, &value{kind: kindTables, at: at})
			}
			if old.val.kind != kindTables {
				return b.twice(at, path, old)
			}
			path = fmt.Sprintf("%s[%d]", path, len(old.val.elems))
			t = newTable(at, header)
			old.val.elems = append(old.val.elems, t)
		case old == nil:
			t = b.add(t, name, at, newTable(at, header)).val
		case old.val.kind == kindTables:
			b.fault(spot{at, path}, "is one table, but there may be several", fmt.Sprintf("write [[%s]], with two brackets", path))
			return newTable(at, header), path
		case old.val.kind == kindTable && old.val.how == implied:
			t = old.val
			t.how, t.at = header, at
		default:
			return b.twice(at, path, old)
		}
	}
	return t, path
}

func (b *builder) keyValue(t *value, path string, e *unstable.Node) {
	if b.deep(e) {
		return
	}
	for it := e.Key(); it.Next(); {
		k := it.Node()
		name, at := string(k.Data), b.position(int(k.Raw.Offset))
		path = join(path, name)
		old := t.get(name)
		if it.IsLast() {
			if old != nil {
				b.twice(at, path, old)
				return
			}
			t.put(name, at, b.value(e.Value(), at, path))
			return
		}
		if old == nil {
			old = b.add(t, name, at, newTable(at, dotted))
		}
		if old.val.kind != kindTable || old.val.how == inline || old.val.how == header {
			b.twice(at, path, old)
			return
		}
		t = old.val
	}
}

// deep faults a dotted key of more parts than any schema will have. Without a
// bound the paths of a hostile file would be as long as the file, each.
func (b *builder) deep(e *unstable.Node) bool {
	parts := 0
	it := e.Key()
	for it.Next() {
		if parts++; parts > 16 {
			b.fault(spot{b.position(int(it.Node().Raw.Offset)), ""}, "a key here has more than 16 parts, which none has", "remove it")
			return true
		}
	}
	return false
}

func (b *builder) value(n *unstable.Node, at pos, path string) *value {
	if n.Raw.Length > 0 {
		at = b.position(int(n.Raw.Offset))
	}
	v := &value{at: at, text: string(n.Data)}
	switch n.Kind {
	case unstable.String:
		v.kind = kindString
	case unstable.Integer:
		v.kind = kindInteger
	case unstable.Float:
		v.kind = kindFloat
	case unstable.Bool:
		v.kind = kindBool
	case unstable.Array:
		v.kind = kindArray
		for it := n.Children(); it.Next(); {
			v.elems = append(v.elems, b.value(it.Node(), at, fmt.Sprintf("%s[%d]", path, len(v.elems))))
		}
	case unstable.InlineTable:
		v = newTable(at, dotted) // its own dotted keys may add to its tables
		for it := n.Children(); it.Next(); {
			b.keyValue(v, path, it.Node())
		}
		v.how = inline
	default:
		v.kind = kindTime
	}
	return v
}

func (b *builder) add(t *value, name string, at pos, v *value) *entry {
	t.put(name, at, v)
	return &t.keys[len(t.keys)-1]
}

// twice faults a second definition and returns a table for what belongs to it.
func (b *builder) twice(at pos, path string, old *entry) (*value, string) {
	b.fault(spot{at, path}, fmt.Sprintf("is set a second time, first in line %d", old.at.line), "keep one of the two")
	return newTable(at, header), path
}

// join adds a name to a key path, quoted if TOML would need it quoted.
func join(path, name string) string {
	if name == "" || strings.ContainsFunc(name, func(c rune) bool {
		return !slices.Contains([]rune("-_"), c) && (c > 'z' || c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a')
	}) {
		name = fmt.Sprintf("%q", name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}
