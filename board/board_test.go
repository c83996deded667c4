package board

import (
	"net"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"weir/init/config"
)

func TestEveryBoardIsWhole(t *testing.T) {
	bs, err := load(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(bs) < 2 {
		t.Fatalf("%d boards embedded, want qemu-arm64 and qemu-armv7 at least", len(bs))
	}
	for _, b := range bs {
		t.Run(b.Name, func(t *testing.T) {
			if got, err := Lookup(b.Name); err != nil || got.Name != b.Name {
				t.Errorf("Lookup(%q) = %v, %v", b.Name, got, err)
			}
			seen := make(map[string]bool)
			for _, m := range slices.Concat(b.Modules, b.OnDemand) {
				if seen[m] {
					t.Errorf("module %s is listed twice", m)
				}
				seen[m] = true
			}
			if b.QEMU != nil && !strings.Contains(b.QEMU.Append, "console="+b.Consoles[0]) {
				t.Errorf("kernel command line %q does not open the first console %s", b.QEMU.Append, b.Consoles[0])
			}
		})
	}
}

// The default configuration is what comes up when the user's is broken: it has
// no one to fall back on, so it must be valid and must know the board's ports.
func TestDefaultConfigFitsTheBoard(t *testing.T) {
	for _, b := range All() {
		t.Run(b.Name, func(t *testing.T) {
			cfg, faults := config.Parse(b.Name+"/weir.toml", b.DefaultConfig)
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			if len(cfg.Ports) == 0 {
				t.Fatal("the default configuration names no port")
			}
			labels := make(map[string]Match)
			for _, p := range b.Ports {
				labels[p.Label] = p.Match
				if p.Match.MAC != "" {
					if _, err := net.ParseMAC(p.Match.MAC); err != nil {
						t.Error(err)
					}
				}
			}
			for _, p := range cfg.Ports {
				m, ok := labels[p.Label]
				if !ok {
					t.Errorf("port %s is configured, and the board has none of that label", p.Label)
				} else if m.MAC != p.Match.MAC || m.DT != p.Match.DT || m.PCI != p.Match.PCI {
					t.Errorf("port %s is matched by %+v, on the board by %+v", p.Label, p.Match, m)
				}
			}
		})
	}
}

func TestLookupNamesTheKnownBoards(t *testing.T) {
	_, err := Lookup("toaster")
	if err == nil {
		t.Fatal("found a board that does not exist")
	}
	for _, want := range []string{"toaster", "qemu-arm64", "qemu-armv7"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not mention %s", err, want)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	const ok = "name='x'\narch='arm64'\nkernel='k'\nconsoles=['ttyS0']\n"
	cases := []struct{ name, board, want string }{
		{"other name", strings.Replace(ok, "'x'", "'y'", 1), `write the folder's name, "x"`},
		{"unknown arch", strings.Replace(ok, "arm64", "mips", 1), "write arm64 or arm"},
		{"no kernel", strings.Replace(ok, "kernel='k'", "", 1), "kernel is missing"},
		{"no console", strings.Replace(ok, "['ttyS0']", "[]", 1), "consoles is empty"},
		{"unknown key", ok + "colour='red'\n", "strict mode"},
		{"label twice", ok + "[[port]]\nlabel='a'\nmatch={mac='m'}\n[[port]]\nlabel='a'\nmatch={mac='n'}\n", "used twice"},
		{"two matches", ok + "[[port]]\nlabel='a'\nmatch={mac='m',pci='p'}\n", "matched by 2 keys"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(fstest.MapFS{"x/board.toml": {Data: []byte(c.board)}, "x/weir.toml": {}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
	if _, err := load(fstest.MapFS{"x/board.toml": {Data: []byte(ok)}, "x/weir.toml": {}}); err != nil {
		t.Errorf("the valid one is refused: %v", err)
	}
}
