package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/board"
)

// call runs weir-image with arguments.
func call(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errOut strings.Builder
	err = run(t.Context(), args, &out, &errOut)
	return out.String(), errOut.String(), err
}

// inTree changes into something that looks like the source tree.
func inTree(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module weir\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
}

func TestHelpNamesEveryCommand(t *testing.T) {
	for _, word := range []string{"help", "-h", "--help"} {
		out, _, err := call(t, word)
		if err != nil {
			t.Errorf("%s: %v", word, err)
		}
		for _, c := range commands {
			if !strings.Contains(out, "\n  "+c.name+" ") {
				t.Errorf("%s does not name %s", word, c.name)
			}
		}
	}
	for _, c := range commands {
		out, _, err := call(t, "help", c.name)
		if err != nil || !strings.Contains(out, "Usage: weir-image "+c.name) || !strings.Contains(out, c.long) {
			t.Errorf("help %s: %q, %v", c.name, out, err)
		}
	}
}

func TestWrongUse(t *testing.T) {
	inTree(t)
	cases := []struct {
		name  string
		args  []string
		usage bool
		want  string
	}{
		{"nothing", nil, true, "Usage: weir-image COMMAND"},
		{"unknown command", []string{"bake"}, true, `unknown command "bake": run weir-image help`},
		{"unknown flag", []string{"build", "-colour", "red"}, true, "flag provided but not defined: -colour"},
		{"unknown board", []string{"build", "-board", "toaster"}, false, `unknown board "toaster": choose one of qemu-arm64, qemu-armv7`},
		{"no board", []string{"build"}, false, "no board: name one with -board"},
		{"unknown board to fetch", []string{"fetch", "-cache", t.TempDir(), "-board", "toaster"}, false, `unknown board "toaster"`},
		{"extra without a path", []string{"build", "-extra", "file"}, true, "is not FILE=PATH"},
		{"extra with a relative path", []string{"build", "-extra", "file=etc/x"}, true, "is not FILE=PATH"},
		{"no lock file", []string{"fetch", "-cache", t.TempDir()}, false, "no lock file: make one with weir-image lock -update"},
		{"cache below a file", []string{"fetch", "-cache", "go.mod/cache"}, false, "cache folder go.mod/cache cannot be made: change its permissions, or name another with -cache"},
		{"argument too many", []string{"boards", "qemu-arm64"}, true, `unexpected argument "qemu-arm64"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, stderr, err := call(t, c.args...)
			text := stderr
			if err != nil {
				text += err.Error()
			}
			if err == nil || errors.Is(err, errUsage) != c.usage || !strings.Contains(text, c.want) {
				t.Errorf("%q, error %v; want %q", stderr, err, c.want)
			}
		})
	}
}

func TestOutsideTheSourceTree(t *testing.T) {
	t.Chdir(t.TempDir())
	_, _, err := call(t, "build", "-board", "qemu-arm64")
	if err == nil || !strings.Contains(err.Error(), "is not in Weir's source tree: change into it") {
		t.Errorf("error %v", err)
	}
}

func TestBoards(t *testing.T) {
	out, _, err := call(t, "boards")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range board.All() {
		if !strings.Contains(out, b.Name+" ") {
			t.Errorf("%q lacks %s", out, b.Name)
		}
	}
	out, _, err = call(t, "boards", "-json")
	var bs []board.Board
	if err != nil || json.Unmarshal([]byte(out), &bs) != nil || len(bs) != len(board.All()) || bs[0].QEMU == nil {
		t.Errorf("%s, %v", out, err)
	}
}
