package cmdline

import (
	"strings"
	"testing"
)

func TestValue(t *testing.T) {
	l := Parse(`console=ttyAMA0 quiet weir.run=/bin/a weir.off weir.run="/bin/b c"  dyndbg="file x +p"` + "\n")
	for key, want := range map[string]string{
		"console": "ttyAMA0", "quiet": "", "weir.off": "", "weir.run": "/bin/b c", "dyndbg": "file x +p",
	} {
		got, ok := l.Value(key)
		if !ok || got != want {
			t.Errorf("%s: %q, %v; want %q", key, got, ok, want)
		}
	}
	if l.Has("weir.only") || l.Has("weir") || Parse(" \n").Has("") {
		t.Error("a word that is not there was found")
	}
}

func TestModuleParams(t *testing.T) {
	l := Parse(`e1000e.InterruptThrottleRate=0 virtio-net.napi_tx=1 virtio_net.csum virtio_net.name="a b" loglevel=4`)
	if got, want := l.ModuleParams("virtio_net"), `napi_tx=1 csum name="a b"`; got != want {
		t.Errorf("virtio_net: %q, want %q", got, want)
	}
	if got := l.ModuleParams("net"); got != "" {
		t.Errorf("net: %q, want nothing", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`a=b "c d" e="f g`)
	f.Add("\x00= =\t\"")
	f.Fuzz(func(t *testing.T, s string) {
		for _, w := range Parse(s).words {
			if strings.Contains(w.key, `"`) {
				t.Errorf("%q: a quote stayed in %q", s, w.key)
			}
		}
	})
}
