package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{"-port", "lan", "-port", "wan=kernel", "-port", "dmz=xdp"}, new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
	want := []portFlag{{"lan", tierAuto}, {"wan", tierKernel}, {"dmz", tierXDP}}
	for i := range want {
		if o.ports[i] != want[i] {
			t.Errorf("port %d is %v, want %v", i, o.ports[i], want[i])
		}
	}
	if tierAuto.refusal() != "" || tierAFXDP.refusal() != "" || tierKernel.refusal() == "" || !strings.Contains(tierXDP.refusal(), "xdp") {
		t.Error("wrong tiers are refused")
	}
}

func TestBadOptions(t *testing.T) {
	for _, c := range []struct{ args, say string }{
		{"", "no ports"},
		{"-port lan -port lan", "given twice"},
		{"-port lan=fast", "no such tier"},
		{"-port averyverylongname", "not an interface's name"},
		{"-port lan/../wan", "not an interface's name"},
		{"-port lan extra", "unexpected argument"},
		{"-port lan -frames 1000", "a power of two"},
		{"-port lan -workers -1", "0 to 64"},
		{"-nonsense", "flag provided but not defined"},
	} {
		var out bytes.Buffer
		if _, err := parseOptions(strings.Fields(c.args), &out); err == nil || !strings.Contains(out.String(), c.say) {
			t.Errorf("%q: error %v, printed %q, want %q", c.args, err, out.String(), c.say)
		}
	}
}
