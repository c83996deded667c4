package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"weir/init/report"
	"weir/netstack/status"
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

func document(t *testing.T, file string) (d statusDocument) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return d
}

// The page of each recorded document, to the letter; no line is too wide, and
// nothing in it can play tricks with a terminal.
func TestPage(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	for _, f := range files {
		p := page(document(t, f))
		golden(t, strings.TrimSuffix(f, "json")+"page", p)
		for _, l := range strings.Split(p, "\n") {
			if utf8.RuneCountInString(l) > width {
				t.Errorf("%s: %d columns: %s", f, utf8.RuneCountInString(l), l)
			}
			if strings.ContainsFunc(l, func(c rune) bool { return !unicode.IsPrint(c) }) {
				t.Errorf("%s: unprintable: %q", f, l)
			}
			if strings.TrimRight(l, " ") != l {
				t.Errorf("%s: blanks at the end: %q", f, l)
			}
		}
	}
}

// device is a machine with a boot report and a forwarder that says s.
func device(t *testing.T, boot *report.Report, s *status.Status) (*env, *strings.Builder, *strings.Builder) {
	t.Helper()
	dir := t.TempDir()
	var out, errs strings.Builder
	e := &env{
		in: strings.NewReader(""), out: &out, err: &errs,
		configPath: filepath.Join(dir, "etc.toml"), inForcePath: filepath.Join(dir, "run.toml"), boardPath: filepath.Join(dir, "board"),
		reportPath: filepath.Join(dir, "boot.json"), socketPath: filepath.Join(dir, "sock"), logDir: filepath.Join(dir, "log"),
	}
	if boot != nil {
		if err := report.NewWriter(e.reportPath).Update(func(r *report.Report) { *r = *boot }); err != nil {
			t.Fatal(err)
		}
	}
	if s != nil {
		serve(t, e.socketPath, s)
	}
	return e, &out, &errs
}

func TestStatusJSON(t *testing.T) {
	d := document(t, "testdata/full.json")
	e, out, errs := device(t, d.Boot, d.Forwarder)
	if exit := run(e, []string{"status", "--json"}); exit != exitOK {
		t.Fatalf("exit %d: %s", exit, errs)
	}
	var got struct {
		Boot      *report.Report
		Forwarder *status.Status
		Errors    []string
	}
	dec := json.NewDecoder(strings.NewReader(out.String()))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		t.Fatalf("%v in:\n%s", err, out)
	}
	if got.Boot == nil || got.Boot.Ports[0].Label != "lan" || got.Forwarder == nil || got.Forwarder.Tiers["worker"] != 999990 || len(got.Errors) != 0 {
		t.Errorf("got %+v", got)
	}
	if dec.More() {
		t.Error("more than one document")
	}
}

func TestStatusWithoutForwarder(t *testing.T) {
	d := document(t, "testdata/full.json")
	e, out, _ := device(t, d.Boot, nil)
	if exit := run(e, []string{"status"}); exit != exitOK {
		t.Errorf("exit %d", exit)
	}
	for _, w := range []string{"forwarder: process 212 runs, but does not answer", "192.168.1.1/24", "mounts"} {
		if !strings.Contains(out.String(), w) {
			t.Errorf("page lacks %q:\n%s", w, out)
		}
	}
	d.Boot.Services = nil
	if p := page(statusDocument{Boot: d.Boot}); !strings.Contains(p, "forwarder: not running, the kernel forwards alone") {
		t.Errorf("page:\n%s", p)
	}
	out.Reset()
	if exit := run(e, []string{"status", "-json"}); exit != exitOK {
		t.Errorf("exit %d", exit)
	}
	var got statusDocument
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil || got.Forwarder != nil || got.Boot == nil || len(got.Errors) != 1 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestStatusOnWorkstation(t *testing.T) {
	e, out, errs := device(t, nil, nil)
	if exit := run(e, []string{"status"}); exit != exitFault || out.Len() > 0 || !strings.Contains(errs.String(), "does not run Weir: boot report:") {
		t.Errorf("exit %d\n%s\n%s", exit, out, errs)
	}
	// The document is one also then.
	if exit := run(e, []string{"status", "--json"}); exit != exitFault {
		t.Errorf("exit %d", exit)
	}
	var got statusDocument
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil || len(got.Errors) != 2 {
		t.Errorf("%v: %s", err, out)
	}
}
