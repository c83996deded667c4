package gobuild

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/internal/testenv"
)

// use is Use, with the environment put back at the end.
func use(t *testing.T, root string) *Toolchain {
	t.Helper()
	testenv.Need(t, "go")
	for _, k := range keep {
		t.Setenv(k, os.Getenv(k))
		if os.Getenv(k) == "" {
			os.Unsetenv(k)
		}
	}
	for k := range fixed {
		if _, set := os.LookupEnv(k); !set {
			t.Setenv(k, "")
			os.Unsetenv(k)
		} else {
			t.Setenv(k, os.Getenv(k))
		}
	}
	t.Setenv("GOROOT", os.Getenv("GOROOT"))
	if os.Getenv("GOROOT") == "" {
		os.Unsetenv("GOROOT")
	}
	t.Setenv("GOARCH", os.Getenv("GOARCH"))
	tools, err := Use(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// module writes a module weir with one program below a folder of some length.
func module(t *testing.T, folder, source string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), folder)
	for name, text := range map[string]string{
		"go.mod":                      "module weir\n\ngo 1.26.0\n",
		"go.sum":                      "",
		"cmd/hello/main.go":           source,
		"internal/version/version.go": "package version\n\nvar Version = \"devel\"\n",
		"lib/lib.go":                  "package lib\n",
		"tools.go":                    "//go:build tools\n\npackage tools\n\nimport (\n\t_ \"example.org/other\"\n\t_ \"github.com/u-root/u-root/cmds/core/ls\"\n\t_ \"github.com/u-root/u-root/cmds/core/gosh\"\n)\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const hello = "package main\n\nimport \"weir/internal/version\"\n\nfunc main() { println(version.Version); panic(1) }\n"

func TestProgramsAreStaticAndForTheBoard(t *testing.T) {
	root := module(t, "a", hello)
	tools := use(t, root)
	for goarch, machine := range map[string]elf.Machine{"arm64": elf.EM_AARCH64, "arm": elf.EM_ARM} {
		out, err := tools.Programs(t.Context(), goarch, "1.2.3-test", []string{"cmd/hello"})
		if err != nil {
			t.Fatal(err)
		}
		b := out["hello"]
		if !bytes.Contains(b, []byte("1.2.3-test")) {
			t.Errorf("%s: the version is not in the program", goarch)
		}
		if bytes.Contains(b, []byte(root)) {
			t.Errorf("%s: the folder's name is in the program", goarch)
		}
		f, err := elf.NewFile(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if f.Machine != machine {
			t.Errorf("%s: program for %s", goarch, f.Machine)
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP {
				t.Errorf("%s: the program needs a dynamic linker", goarch)
			}
		}
	}
}

// The same source in another folder, under settings that would change the
// compiler's output if they reached it: the same bytes.
func TestProgramsAreTheSameEverywhere(t *testing.T) {
	build := func(folder string) []byte {
		out, err := use(t, module(t, folder, hello)).Programs(t.Context(), "arm64", "1", []string{"cmd/hello"})
		if err != nil {
			t.Fatal(err)
		}
		return out["hello"]
	}
	a := build("a")
	t.Setenv("GOFLAGS", "-gcflags=all=-N")
	t.Setenv("GOARM64", "v9.0")
	t.Setenv("GODEBUG", "madvdontneed=1")
	if b := build("another/and/longer"); !bytes.Equal(a, b) {
		t.Error("another folder and environment give other bytes")
	}
	out, err := use(t, module(t, "a", strings.Replace(hello, "panic(1)", "panic(2)", 1))).Programs(t.Context(), "arm64", "1", []string{"cmd/hello"})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(a, out["hello"]) {
		t.Error("one changed byte of source gives the same program")
	}
}

func TestProgramsThatDoNotBuild(t *testing.T) {
	broken := use(t, module(t, "a", "package main\n\nfunc main() { undefined() }\n"))
	_, err := broken.Programs(t.Context(), "arm64", "1", []string{"cmd/hello"})
	if err == nil || !strings.Contains(err.Error(), "cmd/hello/main.go:3:15: undefined: undefined") {
		t.Errorf("error %v, want the compiler's words", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := broken.Programs(ctx, "arm64", "1", []string{"cmd/hello"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	_, err = use(t, module(t, "a", hello)).Programs(t.Context(), "arm64", "1", []string{"cmd/hello", "lib"})
	if err == nil || !strings.Contains(err.Error(), "weir/lib is no main package") {
		t.Errorf("error %v", err)
	}
}

func TestCommandsAreThoseOfToolsGo(t *testing.T) {
	root := module(t, "a", hello)
	tools := &Toolchain{Root: root, modules: "m", Version: "go1"}
	cmds, err := tools.Commands()
	want := []string{"github.com/u-root/u-root/cmds/core/ls", "github.com/u-root/u-root/cmds/core/gosh"}
	if err != nil || !slices.Equal(cmds, want) {
		t.Errorf("%q, %v", cmds, err)
	}
	if err := os.WriteFile(filepath.Join(root, "tools.go"), []byte("package tools\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tools.Commands(); err == nil || !strings.Contains(err.Error(), "imports no command below") {
		t.Errorf("error %v", err)
	}
	// Everything that the busybox depends on is in its key.
	base := tools.BusyboxInputs("arm64", want)
	for name, other := range map[string][]string{
		"architecture": tools.BusyboxInputs("arm", want),
		"commands":     tools.BusyboxInputs("arm64", want[:1]),
		"modules":      (&Toolchain{Version: "go1", modules: "n"}).BusyboxInputs("arm64", want),
		"Go":           (&Toolchain{Version: "go2", modules: "m"}).BusyboxInputs("arm64", want),
	} {
		if slices.Equal(base, other) {
			t.Errorf("another %s is the same busybox", name)
		}
	}
}

// The list of the real tree has what the shell of a gateway is used for.
func TestImageHasTheCommandsOfTheTrade(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root, err := Root(wd)
	if err != nil {
		t.Fatal(err)
	}
	cmds, err := (&Toolchain{Root: root}).Commands()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range cmds {
		names = append(names, CommandName(c))
	}
	for _, want := range []string{"gosh", "ip", "ping", "ls", "cat", "dmesg", "ps", "mount", "umount", "dd", "wget", "kill", "hostname", "sleep", "echo", "date", "df", "free"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not in the image", want)
		}
	}
	for _, never := range []string{"init", "poweroff", "shutdown", "sshd", "reboot"} {
		if slices.Contains(names, never) {
			t.Errorf("%s is in the image", never)
		}
	}
}

func TestRoot(t *testing.T) {
	root := module(t, "a", hello)
	if got, err := Root(filepath.Join(root, "cmd", "hello")); err != nil || got != root {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := Root(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not in Weir's source tree") {
		t.Errorf("error %v", err)
	}
}
