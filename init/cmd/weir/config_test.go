package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/init/config"
	"weir/init/netup"
	"weir/init/report"
)

const good = `[[port]]
match = { mac = "52:54:00:00:00:01" }
label = "lan" # a remark
address = ["192.168.1.1/24"]
forward = false
[[route]]
to = "10.0.0.0/8"
via = "192.168.1.2"
`

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCheck(t *testing.T) {
	e, out, errs := device(t, nil, nil)
	dir := t.TempDir()
	ok, bad := filepath.Join(dir, "ok.toml"), filepath.Join(dir, "bad.toml")
	write(t, ok, good)
	write(t, bad, "colour = 1\n[[port]]\nlabel = \"all\"\n")
	if exit := run(e, []string{"config", "check", ok}); exit != exitOK || errs.Len() > 0 ||
		out.String() != ok+": ok\n  port   lan         52:54:00:00:00:01  auto  192.168.1.1/24 (does not forward)\n  route  10.0.0.0/8  via 192.168.1.2\n" {
		t.Errorf("exit %d:\n%s%s", exit, out, errs)
	}
	// All faults of all files, and the good one is still said to be.
	out.Reset()
	if exit := run(e, []string{"config", "check", bad, ok, filepath.Join(dir, "none.toml")}); exit != exitFault {
		t.Errorf("exit %d", exit)
	}
	for _, w := range []string{bad + ":1:1: colour: no such key", bad + ":2:1: port[0]: has no match", bad + ":3:9: port[0].label: ", "none.toml: no such file"} {
		if !strings.Contains(errs.String(), w) {
			t.Errorf("lacks %q:\n%s", w, errs)
		}
	}
	if !strings.Contains(out.String(), ok+": ok") {
		t.Errorf("the good file is not named:\n%s", out)
	}
	e.in = strings.NewReader(good)
	out.Reset()
	if exit := run(e, []string{"config", "check", "-"}); exit != exitOK || !strings.HasPrefix(out.String(), "-: ok") {
		t.Errorf("from standard input: exit %d: %s", exit, out)
	}
	// A file that never ends is only too long.
	errs.Reset()
	if exit := run(e, []string{"config", "check", "/dev/zero"}); exit != exitFault || !strings.Contains(errs.String(), "a configuration may have") {
		t.Errorf("/dev/zero: exit %d: %s", exit, errs)
	}
}

// Which configuration is in force, by what a device has.
func TestShow(t *testing.T) {
	e, out, errs := device(t, nil, nil)
	show := func(want int, words ...string) {
		t.Helper()
		out.Reset()
		errs.Reset()
		if exit := run(e, []string{"config", "show"}); exit != want {
			t.Errorf("exit %d: %s", exit, errs)
		}
		for _, w := range words {
			if !strings.Contains(out.String()+errs.String(), w) {
				t.Errorf("lacks %q:\n%s%s", w, out, errs)
			}
		}
	}
	show(exitFault, "no Weir device: name a FILE")
	write(t, e.boardPath, "qemu-arm64\n")
	show(exitOK, "# in force: the default of board qemu-arm64\n", `label   = "wan"`)
	write(t, e.configPath, good)
	show(exitOK, "# in force: "+e.configPath+"\n", `label   = "lan"`, "192.168.1.1")
	if strings.Contains(out.String(), "a remark") {
		t.Error("not in canonical form")
	}
	write(t, e.inForcePath, strings.ReplaceAll(good, "192.168.1.", "192.168.7."))
	show(exitOK, "# in force: applied by hand, differs from "+e.configPath, "192.168.7.1")
	write(t, e.inForcePath, good)
	if err := report.NewWriter(e.reportPath).Update(func(r *report.Report) { r.Config = e.configPath }); err != nil {
		t.Fatal(err)
	}
	show(exitOK, "# in force: at boot from "+e.configPath)

	out.Reset()
	file := filepath.Join(t.TempDir(), "x.toml")
	write(t, file, good)
	if exit := run(e, []string{"config", "show", file}); exit != exitOK || strings.HasPrefix(out.String(), "#") {
		t.Errorf("exit %d: %s", exit, out)
	}
}

// A faulty file changes nothing and says so.
func TestApplyFaulty(t *testing.T) {
	e, out, errs := device(t, nil, nil)
	write(t, e.configPath, "[[port]]\n")
	if exit := run(e, []string{"config", "apply"}); exit != exitFault || out.Len() > 0 ||
		!strings.Contains(errs.String(), "has no label") || !strings.HasSuffix(errs.String(), "nothing was changed\n") {
		t.Errorf("exit %d: %s%s", exit, out, errs)
	}
}

// Changes and failures are told, a port's failure hides no change, and a second
// apply says that there was nothing to do.
func TestApply(t *testing.T) {
	e, out, errs := device(t, nil, nil)
	file := filepath.Join(t.TempDir(), "x.toml")
	write(t, file, good)
	var res netup.Result
	var fault error
	e.apply = func(_ context.Context, cfg *config.Config) (netup.Result, error) {
		if cfg.Ports[0].Label != "lan" {
			t.Errorf("applied %+v", cfg)
		}
		return res, fault
	}
	if exit := run(e, []string{"config", "apply", file}); exit != exitOK || out.String() != "nothing to change\n" {
		t.Errorf("exit %d: %s%s", exit, out, errs)
	}
	write(t, file, "hostname = \"a-name-no-test-has\"\n"+good)
	var name string
	e.setHostname = func(b []byte) error { name = string(b); return nil }
	out.Reset()
	if exit := run(e, []string{"config", "apply", file}); exit != exitOK || name != "a-name-no-test-has" || !strings.HasPrefix(out.String(), "the host name is now a-name-no-test-has, was ") {
		t.Errorf("exit %d: %s%s", exit, out, errs)
	}
	write(t, file, good)
	out.Reset()
	res.Changes = []string{"lan: renamed from eth0\x1b[0m"}
	fault = errors.New("port wan: boom")
	if exit := run(e, []string{"config", "apply", file}); exit != exitFault || out.String() != "lan: renamed from eth0?[0m\n" ||
		errs.String() != "weir config apply: port wan: boom\n" {
		t.Errorf("exit %d: %s%s", exit, out, errs)
	}
}

// A tier that this build lacks is valid, but the author hears of it.
func TestCheckNotesMissingTier(t *testing.T) {
	e, out, _ := device(t, nil, nil)
	e.in = strings.NewReader("[[port]]\nmatch = { mac = \"52:54:00:00:00:01\" }\nlabel = \"wan\"\ntier = \"xdp\"\n")
	if exit := run(e, []string{"config", "check", "-"}); exit != exitOK {
		t.Errorf("exit %d", exit)
	}
	if !strings.Contains(out.String(), `note: port wan: tier "xdp" is not in this build`) {
		t.Errorf("printed:\n%s", out)
	}
}
