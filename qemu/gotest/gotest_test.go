package gotest

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"weir/qemu/agent"
)

const output = "\x16=== RUN   TestA\n" +
	"\x16=== RUN   TestA/sub\n" +
	"    a_test.go:3: words\n" +
	"\x16--- PASS: TestA (0.00s)\n" +
	"    \x16--- PASS: TestA/sub (0.00s)\n" +
	"\x16=== RUN   TestB\n" +
	"no newline at the end\x16--- FAIL: TestB (0.00s)\n" +
	"\x16=== RUN   TestC\n" +
	"    c_test.go:9: needs a thing\n" +
	"\x16--- SKIP: TestC (0.00s)\n" +
	"\x16=== RUN   TestD\n" +
	"panic: oh\n"

func TestParse(t *testing.T) {
	want := map[string]string{"TestA": "PASS", "TestA/sub": "PASS", "TestB": "FAIL", "TestC": "SKIP", "TestD": "FAIL"}
	got := parse(output)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for _, v := range got {
		if v.result != want[v.name] {
			t.Errorf("%s: %s, want %s", v.name, v.result, want[v.name])
		}
	}
	if out := strings.Join(got[3].output, ""); !strings.Contains(out, "needs a thing") {
		t.Errorf("the skip's reason is lost: %q", out)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(output)
	f.Add("\x16--- PASS:")
	f.Fuzz(func(t *testing.T, s string) {
		for _, v := range parse(s) {
			if v.result == "" || v.name == "" {
				t.Errorf("%+v", v)
			}
		}
	})
}

func TestExclusions(t *testing.T) {
	ex, err := parseExclusions("# why\n\nweir/a/... * all of it\nweir/b TestX asks for x\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pkg, test string
		out       bool
	}{
		{"weir/a", "*", true}, {"weir/a/b", "TestY", true}, {"weir/ab", "*", false},
		{"weir/b", "*", false}, {"weir/b", "TestX", true}, {"weir/b", "TestX/sub", true}, {"weir/b", "TestXY", false},
	} {
		if _, out := find(ex, c.pkg, c.test); out != c.out {
			t.Errorf("%s %s: excluded %v", c.pkg, c.test, out)
		}
	}
	if _, err := parseExclusions("weir/a TestX\n"); err == nil || !strings.Contains(err.Error(), ":1:") {
		t.Errorf("a line without a reason: %v", err)
	}
	if _, err := parseExclusions(excludeText); err != nil {
		t.Error(err)
	}
}

// What does not run in the guest as it should, by what the run then says.
func TestSummary(t *testing.T) {
	pass := func(names ...string) string {
		var b strings.Builder
		for _, n := range names {
			b.WriteString("\x16=== RUN   " + n + "\n\x16--- PASS: " + n + " (0.00s)\n")
		}
		return b.String()
	}
	skip := "\x16=== RUN   TestB\n    b_test.go:1: no such tool\n\x16--- SKIP: TestB (0.00s)\n"
	cases := []struct {
		name   string
		r      agent.Response
		strict bool
		ok     bool
		says   string
	}{
		{"all well", agent.Response{Stdout: []byte(pass("TestA", "TestB"))}, true, true, "2 passed, 0 failed, 0 skipped"},
		{"one is missing", agent.Response{Stdout: []byte(pass("TestA"))}, false, false, "TestB is a test on this machine and did not run"},
		{"one too many", agent.Response{Stdout: []byte(pass("TestA", "TestB", "TestC"))}, false, false, "TestC ran in the guest"},
		{"one twice", agent.Response{Stdout: []byte(pass("TestA", "TestB", "TestB"))}, false, false, "3 tests ran, 2 are"},
		{"a skip", agent.Response{Stdout: []byte(pass("TestA") + skip)}, false, true, "skipped: TestB: b_test.go:1: no such tool"},
		{"a skip with CI=true", agent.Response{Stdout: []byte(pass("TestA") + skip)}, true, false, "not allowed"},
		{"a failure", agent.Response{Stdout: []byte(pass("TestA") + strings.Replace(skip, "SKIP", "FAIL", 1)), Exit: 1}, false, false, "1 passed, 1 failed"},
		{"exit status", agent.Response{Stdout: []byte(pass("TestA", "TestB")), Stderr: []byte("leak"), Exit: 2}, false, false, "exit status 2"},
		{"killed", agent.Response{Stdout: []byte(pass("TestA", "TestB")), Exit: -1, Error: "killed after 1s"}, false, false, "killed after 1s"},
		{"did not start", agent.Response{Exit: -1, Error: "exec format error"}, false, false, "exec format error"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			m := &summary{out: &out, strict: c.strict}
			m.add(&suite{pkg: "weir/x", names: []string{"TestA", "TestB"}}, c.r, time.Second)
			if ok := m.close(); ok != c.ok || !strings.Contains(out.String(), c.says) {
				t.Errorf("ok %v, want %v with %q:\n%s", ok, c.ok, c.says, &out)
			}
		})
	}
}

// The line of an exclusion whose test is gone has to go too.
func TestStaleExclusion(t *testing.T) {
	ex := []exclusion{{"weir/x", "TestGone", "r"}}
	if err := stale(map[string]*suite{"weir/x": {names: []string{"TestA"}}}, ex); err == nil {
		t.Error("no error")
	}
	if err := stale(map[string]*suite{"weir/x": {excluded: []string{"TestGone"}}}, ex); err != nil {
		t.Error(err)
	}
}
