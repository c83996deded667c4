package modules

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"
)

// A folder as depmod leaves it, with what real ones have: names with "-" and
// "_", a pattern with spaces, dependencies in an order of no use.
var folder = fstest.MapFS{
	"modules.dep": text(
		"kernel/drivers/net/virtio_net.ko.xz: kernel/net/core/failover.ko.xz kernel/drivers/net/net_failover.ko.xz",
		"kernel/drivers/net/net_failover.ko.xz: kernel/net/core/failover.ko.xz",
		"kernel/net/core/failover.ko.xz:",
		"kernel/drivers/net/ethernet/ti/ti_cpsw.ko.xz: kernel/drivers/net/phy/phy-gmii-sel.ko.xz",
		"kernel/drivers/net/phy/phy-gmii-sel.ko.xz:",
		"kernel/lost.ko: kernel/nowhere.ko",
		"kernel/circle-a.ko: kernel/circle_b.ko",
		"kernel/circle_b.ko: kernel/circle-a.ko",
		"kernel/drivers/pci_bus.ko:"),
	"modules.builtin": text("kernel/drivers/virtio/virtio_pci.ko", "kernel/net/ipv6.ko"),
	"modules.alias": text("# Aliases extracted from modules themselves.",
		"alias virtio:d00000001v* virtio_net",
		"alias of:N*T*Cti,am335x-cpsw-switchC* ti_cpsw",
		"alias of:N*T*Cti,am335x-cpsw-switch ti_cpsw",
		"alias pci:v00008086d000010D3sv*sd*bc*sc*i* pci-bus",
		"alias platform:mt8183 soc card snd_mt8183",
		"alias net-pf-17 circle-a"),
}

func text(lines ...string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
}

func index(t *testing.T) *Index {
	t.Helper()
	x, err := ReadIndex(folder)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// kernel takes modules as the kernel does: only after what they need.
type kernel struct {
	loaded []string
	answer map[string]error
	params map[string]string
}

func (k *kernel) insert(file, params string) error {
	name := Name(file)
	if err := k.answer[name]; err != nil {
		return err
	}
	if slices.Contains(k.loaded, name) {
		return unix.EEXIST
	}
	k.loaded = append(k.loaded, name)
	if k.params == nil {
		k.params = map[string]string{}
	}
	k.params[name] = params
	return nil
}

func TestLoadInOrder(t *testing.T) {
	k := &kernel{}
	l := &Loader{Index: index(t), Insert: k.insert, Params: func(n string) string { return "for=" + n }}
	for range 2 {
		if err := l.Load(context.Background(), "virtio-net"); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"failover", "net_failover", "virtio_net"}
	if !slices.Equal(k.loaded, want) || !slices.Equal(l.Loaded(), want) {
		t.Errorf("loaded %v, want %v", k.loaded, want)
	}
	if k.params["virtio_net"] != "for=virtio_net" {
		t.Errorf("params %v", k.params)
	}
}

func TestBuiltInAndLoadedAreFine(t *testing.T) {
	k := &kernel{loaded: []string{"failover"}}
	l := &Loader{Index: index(t), Insert: k.insert}
	for _, n := range []string{"virtio_pci", "ipv6", "failover", "net_failover"} {
		if err := l.Load(context.Background(), n); err != nil {
			t.Errorf("%s: %v", n, err)
		}
	}
	if got := l.Loaded(); !slices.Equal(got, []string{"net_failover"}) {
		t.Errorf("we loaded %v", got)
	}
}

func TestWhatCannotBeLoadedIsNamed(t *testing.T) {
	k := &kernel{answer: map[string]error{"failover": unix.ENOEXEC}}
	l := &Loader{Index: index(t), Insert: k.insert}
	err := l.Load(context.Background(), "virtio_net")
	if !errors.Is(err, unix.ENOEXEC) || !strings.Contains(fmt.Sprint(err), "virtio_net: needs module failover: not for this kernel") {
		t.Errorf("%v", err)
	}
	if err := l.Load(context.Background(), "nothing"); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "module nothing") {
		t.Errorf("%v", err)
	}
	if err := l.Load(context.Background(), "lost"); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("%v", err)
	}
	if len(k.loaded) != 0 {
		t.Errorf("loaded %v", k.loaded)
	}
}

func TestCircleEnds(t *testing.T) {
	k := &kernel{}
	l := &Loader{Index: index(t), Insert: k.insert}
	if err := l.Load(context.Background(), "circle-a"); err != nil || len(k.loaded) != 2 {
		t.Errorf("%v, loaded %v", err, k.loaded)
	}
}

func TestEndedContextLoadsNothing(t *testing.T) {
	k := &kernel{}
	l := &Loader{Index: index(t), Insert: k.insert}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.Load(ctx, "failover"); !errors.Is(err, context.Canceled) || len(k.loaded) != 0 {
		t.Errorf("%v, loaded %v", err, k.loaded)
	}
	if err := l.Load(context.Background(), "failover"); err != nil {
		t.Errorf("it was counted as tried: %v", err)
	}
}

func TestMatch(t *testing.T) {
	x := index(t)
	for alias, want := range map[string]string{
		"virtio:d00000001v00001AF4":                             "virtio_net",
		"virtio:d00000002v00001AF4":                             "",
		"of:NethernetT(null)Cti,am335x-cpsw-switch":             "ti_cpsw",
		"of:NethernetT(null)Cti,am335x-cpsw-switchCti,cpsw":     "ti_cpsw",
		"of:NethernetT(null)Cti,am335x-cpsw":                    "",
		"pci:v00008086d000010D3sv00008086sd0000A01Fbc02sc00i00": "pci_bus",
		"platform:mt8183 soc card":                              "snd_mt8183",
		"net_pf-17":                                             "circle_a",
		"ti-cpsw":                                               "ti_cpsw",
		"":                                                      "",
	} {
		if got := strings.Join(x.Match(alias), " "); got != want {
			t.Errorf("%q: %q, want %q", alias, got, want)
		}
	}
}

// hotBus is a machine where the driver of a bus makes a further device appear.
type hotBus struct {
	fs fstest.MapFS
	k  *kernel
}

func (b hotBus) Open(name string) (fs.File, error) {
	if slices.Contains(b.k.loaded, "pci_bus") {
		b.fs["pci0/0000:00:01.0/virtio0/modalias"] = text("virtio:d00000001v00001AF4")
	}
	return b.fs.Open(name)
}

func TestColdplugFollowsTheBus(t *testing.T) {
	k := &kernel{answer: map[string]error{"phy_gmii_sel": unix.EIO}}
	l := &Loader{Index: index(t), Insert: k.insert}
	machine := hotBus{fstest.MapFS{
		"pci0/modalias":               text("pci:v00008086d000010D3sv00008086sd0000A01Fbc02sc00i00"),
		"platform/eth/modalias":       text("of:NethernetT(null)Cti,am335x-cpsw-switch"),
		"platform/none/modalias":      text("of:NnothingT(null)Cnobody,knows"),
		"platform/empty/modalias":     &fstest.MapFile{},
		"platform/gone/modalias/note": text("modalias is a folder here"),
	}, k}
	err := l.Coldplug(context.Background(), machine)
	if want := []string{"pci_bus", "failover", "net_failover", "virtio_net"}; !slices.Equal(k.loaded, want) {
		t.Errorf("loaded %v, want %v", k.loaded, want)
	}
	// One fault, named once, and the rest went on.
	if got := strings.Count(fmt.Sprint(err), "module ti_cpsw"); got != 1 || !errors.Is(err, unix.EIO) {
		t.Errorf("%v", err)
	}
}

func TestColdplugForgivesWhatIsNotThere(t *testing.T) {
	k := &kernel{answer: map[string]error{"pci_bus": unix.ENODEV, "ti_cpsw": ErrMissing}}
	l := &Loader{Index: index(t), Insert: k.insert}
	err := l.Coldplug(context.Background(), fstest.MapFS{
		"a/modalias": text("pci:v00008086d000010D3sv00008086sd0000A01Fbc02sc00i00"),
		"b/modalias": text("of:NethernetT(null)Cti,am335x-cpsw-switch"),
		"c/modalias": text("platform:mt8183 soc card"), // an alias of a module that is in no list
	})
	if err != nil {
		t.Error(err)
	}
}

func TestIndexNeedsModulesDepAlone(t *testing.T) {
	if _, err := ReadIndex(fstest.MapFS{"modules.dep": folder["modules.dep"]}); err != nil {
		t.Error(err)
	}
	if _, err := ReadIndex(fstest.MapFS{"modules.alias": folder["modules.alias"]}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"*", "", true}, {"", "", true}, {"", "a", false}, {"a*", "a", true}, {"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-b-b-d", false}, {"?", "", false}, {"?", "x", true}, {"a?c", "abc", true},
		{"v[0-9]x", "v5x", true}, {"v[0-9]x", "vax", false}, {"v[0-9a-f]x", "vax", true}, {"v[ab", "v[ab", true},
		{"v[]x", "v[]x", false}, {"*[0-3]", "a9b2", true}, {"**a", "bba", true}, {"a", "ab", false},
	} {
		if got := glob(c.pattern, c.s); got != c.want {
			t.Errorf("glob(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
	if got := norm("of:N-x[0-9]-y"); got != "of:N_x[0-9]_y" {
		t.Errorf("norm: %q", got)
	}
}

// Against the slow, obvious twin: a recursion over both strings.
func FuzzGlob(f *testing.F) {
	f.Add("a*b?c[0-9]", "axxbyc7")
	f.Add("[a", "[a")
	f.Add("*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaac")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		if len(pattern) > 24 || len(s) > 24 || strings.Count(pattern, "*") > 4 {
			return
		}
		if got, want := glob(pattern, s), slow(pattern, s); got != want {
			t.Errorf("glob(%q, %q) = %v, want %v", pattern, s, got, want)
		}
	})
}

func slow(p, s string) bool {
	if p == "" {
		return s == ""
	}
	if p[0] == '*' {
		return slow(p[1:], s) || s != "" && slow(p, s[1:])
	}
	if s == "" {
		return false
	}
	if end := strings.IndexByte(p, ']'); p[0] == '[' && end > 0 {
		return inSet(p[1:end], s[0]) && slow(p[end+1:], s[1:])
	}
	return (p[0] == '?' || p[0] == s[0]) && slow(p[1:], s[1:])
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("a.ko: b.ko\nb.ko:"), []byte("alias x:y* a"))
	f.Add([]byte(":::\n"), []byte("alias  a\nalias a"))
	f.Fuzz(func(t *testing.T, dep, aliases []byte) {
		x, err := ReadIndex(fstest.MapFS{"modules.dep": {Data: dep}, "modules.alias": {Data: aliases}})
		if err != nil {
			return
		}
		l := &Loader{Index: x, Insert: func(_, _ string) error { return nil }}
		for name := range x.modules {
			_ = l.Load(context.Background(), name)
		}
		x.Match("x:yz")
	})
}
