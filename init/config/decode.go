package config

import (
	"fmt"
	"strconv"
	"strings"
)

// reader collects the faults of one file.
type reader struct {
	file   string
	faults Faults
}

// spot is what a fault points at: a place and the key path that stands there.
type spot struct {
	pos
	key string
}

func (r *reader) fault(at spot, problem, remedy string) {
	r.faults = append(r.faults, Fault{
		File: r.file, Line: at.line, Column: at.column, Key: at.key, Problem: problem, Remedy: remedy,
	})
}

// table takes the keys that a section knows out of a TOML table. Each getter
// faults a value of another type; done faults the keys that none asked for.
// An example is a right value as TOML, for the remedy.
type table struct {
	*reader
	spot
	val   *value
	asked []string
	used  map[string]bool
}

func (r *reader) table(v *value, key string) *table {
	return &table{reader: r, spot: spot{v.at, key}, val: v, used: map[string]bool{}}
}

// get returns the value of a key if it has one of the kinds.
func (t *table) get(name, example string, want kind) (*value, spot, bool) {
	t.asked = append(t.asked, name)
	t.used[name] = true
	e := t.val.get(name)
	at := spot{t.pos, join(t.key, name)}
	if e == nil {
		return nil, at, false
	}
	at.pos = e.val.at
	if e.val.kind != want {
		at.pos = e.at
		t.fault(at, fmt.Sprintf("is %v, but must be %v", e.val.kind, want), "write "+example)
		return nil, at, false
	}
	return e.val, at, true
}

// text is a string; ok is false where the key is missing or of another type.
func (t *table) text(name, example string) (s string, at spot, ok bool) {
	v, at, ok := t.get(name, fmt.Sprintf("%s = %q", name, example), kindString)
	if !ok {
		return "", at, false
	}
	return v.text, at, true
}

// number is an integer from low to high; unfit and remedy say what another one
// is and what to write.
func (t *table) number(name string, example, low, high int, unfit, remedy string) (n int, at spot, ok bool) {
	v, at, ok := t.get(name, fmt.Sprintf("%s = %d", name, example), kindInteger)
	if !ok {
		return 0, at, false
	}
	// Base 0 takes TOML's 0x, 0o, 0b and underscores.
	n64, err := strconv.ParseInt(strings.TrimPrefix(v.text, "+"), 0, 64)
	if err != nil || n64 < int64(low) || n64 > int64(high) {
		t.fault(at, v.text+" "+unfit, remedy)
		return 0, at, false
	}
	return int(n64), at, true
}

func (t *table) flag(name string) (b bool, at spot, ok bool) {
	v, at, ok := t.get(name, name+" = true", kindBool)
	return ok && v.text == "true", at, ok
}

// located is a string of an array and its place.
type located struct {
	text string
	spot
}

// texts is an array of strings; elements of another type are faulted and left
// out.
func (t *table) texts(name, example string) (list []located) {
	example = fmt.Sprintf("%s = [%q]", name, example)
	v, at, ok := t.get(name, example, kindArray)
	if !ok {
		return nil
	}
	for i, e := range v.elems {
		where := spot{e.at, fmt.Sprintf("%s[%d]", at.key, i)}
		if e.kind != kindString {
			t.fault(where, fmt.Sprintf("is %v, but must be a string", e.kind), "write "+example)
			continue
		}
		list = append(list, located{e.text, where})
	}
	return list
}

// sub is a table within the table.
func (t *table) sub(name, example string) (*table, bool) {
	v, at, ok := t.get(name, example, kindTable)
	if !ok {
		return nil, false
	}
	return t.table(v, at.key), true
}

// tables is a list of tables, [[name]].
func (t *table) tables(name string) (list []*table) {
	e := t.val.get(name)
	// name = [{…}, {…}] means the same.
	if e != nil && e.val.kind == kindArray {
		lists := *e.val
		lists.kind = kindTables
		for i, el := range e.val.elems {
			if el.kind != kindTable {
				t.fault(spot{el.at, fmt.Sprintf("%s[%d]", join(t.key, name), i)},
					fmt.Sprintf("is %v, but must be a table", el.kind), fmt.Sprintf("write [[%s]] before its keys", name))
				lists.kind = kindArray
			}
		}
		if lists.kind == kindArray {
			t.asked, t.used[name] = append(t.asked, name), true
			return nil
		}
		e.val = &lists
	}
	v, at, ok := t.get(name, fmt.Sprintf("[[%s]], with two brackets", name), kindTables)
	if !ok {
		if e != nil && e.val.kind == kindTable { // its own faults are worth telling too
			list = append(list, t.table(e.val, at.key))
		}
		return list
	}
	for i, el := range v.elems {
		list = append(list, t.table(el, fmt.Sprintf("%s[%d]", at.key, i)))
	}
	return list
}

// done faults the keys that are not the schema's.
func (t *table) done() {
	for _, e := range t.val.keys {
		if t.used[e.name] {
			continue
		}
		remedy := "remove it; known here are " + strings.Join(t.asked, ", ")
		if near := nearest(e.name, t.asked); near != "" {
			remedy = fmt.Sprintf("did you mean %s?", near)
		}
		t.fault(spot{e.at, join(t.key, e.name)}, "no such key", remedy)
	}
}
