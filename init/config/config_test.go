package config

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got:\n%s\nwant:\n%s", file, got, want)
	}
}

func files(t *testing.T, pattern string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	all := map[string][]byte{}
	for _, n := range names {
		data, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		all[n] = data
	}
	return all
}

// Every fault of a bad file is told at once, at its place, in its words.
func TestFaults(t *testing.T) {
	for n, data := range files(t, "testdata/bad/*.toml") {
		c, faults := Parse(filepath.Base(n), data)
		if c != nil || len(faults) == 0 {
			t.Errorf("%s: no fault found", n)
			continue
		}
		for _, f := range faults {
			if f.Problem == "" || f.Remedy == "" || f.Line < 1 || f.Column < 1 {
				t.Errorf("%s: fault lacks a part: %+v", n, f)
			}
			if strings.Contains(f.Error(), "\n") {
				t.Errorf("%s: not one line: %q", n, f.Error())
			}
		}
		golden(t, strings.TrimSuffix(n, "toml")+"faults", faults.Error()+"\n")
	}
}

// A good file has no fault, and its canonical form means the same.
func TestGood(t *testing.T) {
	for n, data := range files(t, "testdata/good/*.toml") {
		c, faults := Parse(n, data)
		if faults != nil {
			t.Errorf("%s: %v", n, faults)
			continue
		}
		again := Encode(c)
		c2, faults := Parse("encoded", again)
		if faults != nil || !reflect.DeepEqual(c, c2) {
			t.Errorf("%s: encoded form differs: %v\n%s", n, faults, again)
		}
		golden(t, strings.TrimSuffix(n, "toml")+"canonical", string(again))
	}
}
