package kmod

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"weir/images/arch"
	"weir/images/kmod/kmodtest"
)

const release = "6.12.1-test"

// tree is a kernel package: file → its modinfo. Names end in .ko.xz or .ko.
func tree(files map[string][]string) *Tree {
	data := make(map[string][]byte)
	for f, info := range files {
		b := kmodtest.Module("arm64", append([]string{"vermagic=" + release + " SMP aarch64"}, info...)...)
		if strings.HasSuffix(f, ".xz") {
			b = kmodtest.XZ(b)
		}
		data[f] = b
	}
	return &Tree{
		Release: release, Arch: "arm64",
		Files:   slices.Collect(maps.Keys(data)),
		Builtin: []byte("kernel/drivers/virtio/virtio_pci.ko\nkernel/net/packet/af-packet.ko\n"),
		Read: func(f string) ([]byte, error) {
			b, ok := data[f]
			if !ok {
				return nil, errors.New("no such file")
			}
			return b, nil
		},
	}
}

func sample() *Tree {
	return tree(map[string][]string{
		"kernel/net/a/nf_tables.ko.xz":    {"name=nf_tables", "depends=nfnetlink,libcrc32c", "alias=nfnetlink-subsys-10"},
		"kernel/net/a/nfnetlink.ko.xz":    {"name=nfnetlink", "depends="},
		"kernel/lib/libcrc32c.ko.xz":      {"name=libcrc32c", "depends=", "softdep=pre: crc32c"},
		"kernel/crypto/crc32c_generic.ko": {"name=crc32c_generic", "alias=crc32c", "alias=crypto-crc32c"},
		"kernel/net/a/nft-ct.ko.xz":       {"name=nft_ct", "depends=nf_tables,nf_conntrack"},
		"kernel/net/a/nf_conntrack.ko":    {"name=nf_conntrack", "depends=libcrc32c,af_packet"},
		"kernel/drivers/virtio_net.ko":    {"name=virtio_net", "depends=", "alias=virtio:d00000001v*"},
		"kernel/drivers/unwanted.ko.xz":   {"name=unwanted", "depends="},
	})
}

func names(s *Selection) []string {
	var out []string
	for _, m := range s.Modules {
		out = append(out, m.Name)
	}
	slices.Sort(out)
	return out
}

func TestSelectTakesDependenciesAndNothingElse(t *testing.T) {
	s, err := sample().Select([]string{"nft_ct", "virtio-pci", "virtio_net", "af_packet"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"libcrc32c", "nf_conntrack", "nf_tables", "nfnetlink", "nft_ct", "virtio_net"}
	if got := names(s); !slices.Equal(got, want) {
		t.Errorf("modules %v, want %v", got, want)
	}
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "libcrc32c wants crc32c") {
		t.Errorf("warnings %q: crc32c is missing", s.Warnings)
	}
}

func TestSoftDependencyByAliasIsEnough(t *testing.T) {
	tr := tree(map[string][]string{
		"kernel/libcrc32c.ko":    {"name=libcrc32c", "softdep=pre: crc32c"},
		"kernel/crc32c_arm64.ko": {"name=crc32c_arm64", "alias=crc32c"},
	})
	s, err := tr.Select([]string{"crc32c_arm64", "libcrc32c"})
	if err != nil || len(s.Warnings) != 0 {
		t.Errorf("warnings %q, error %v", s.Warnings, err)
	}
}

func TestTables(t *testing.T) {
	s, err := sample().Select([]string{"nft_ct", "virtio_net"})
	if err != nil {
		t.Fatal(err)
	}
	tables := s.Tables()
	want := map[string]string{
		"modules.dep": `kernel/drivers/virtio_net.ko:
kernel/lib/libcrc32c.ko.xz:
kernel/net/a/nf_conntrack.ko: kernel/lib/libcrc32c.ko.xz
kernel/net/a/nf_tables.ko.xz: kernel/lib/libcrc32c.ko.xz kernel/net/a/nfnetlink.ko.xz
kernel/net/a/nfnetlink.ko.xz:
kernel/net/a/nft-ct.ko.xz: kernel/net/a/nf_conntrack.ko kernel/net/a/nf_tables.ko.xz kernel/lib/libcrc32c.ko.xz kernel/net/a/nfnetlink.ko.xz
`,
		"modules.alias": `# Aliases extracted from modules themselves.
alias virtio:d00000001v* virtio_net
alias nfnetlink-subsys-10 nf_tables
`,
		"modules.softdep": "# Soft dependencies extracted from modules themselves.\nsoftdep libcrc32c pre: crc32c\n",
		"modules.builtin": "kernel/drivers/virtio/virtio_pci.ko\nkernel/net/packet/af-packet.ko\n",
	}
	for name, text := range want {
		if got := string(tables[name]); got != text {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, text)
		}
	}
}

// A loader goes through a line from right to left: at every point, what a module
// needs has come before.
func TestDepIsInLoadingOrder(t *testing.T) {
	s, err := sample().Select([]string{"nft_ct"})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(s.Tables()["modules.dep"])) {
		f := strings.Fields(strings.Replace(line, ":", " ", 1))
		loaded := make(map[string]bool)
		for i := len(f) - 1; i >= 0; i-- {
			for _, m := range s.Modules {
				if m.File != f[i] {
					continue
				}
				for _, d := range m.Depends {
					if s.byName[d] != nil && !loaded[d] {
						t.Errorf("%q: %s comes before %s, which it needs", line, m.Name, d)
					}
				}
				loaded[m.Name] = true
			}
		}
	}
}

func TestSelectRefuses(t *testing.T) {
	foreign := tree(map[string][]string{"kernel/a.ko": {"name=a"}})
	foreign.Arch = "arm"
	other := tree(map[string][]string{"kernel/a.ko": {"name=a"}})
	other.Release = "6.99"
	lacks := tree(map[string][]string{"kernel/a.ko": {"name=a", "depends=b"}})
	damaged := tree(map[string][]string{"kernel/a.ko.xz": {"name=a"}})
	whole := damaged.Read
	damaged.Read = func(f string) ([]byte, error) {
		b, err := whole(f)
		return b[:len(b)/2], err
	}
	noInfo := tree(nil)
	noInfo.Files = []string{"kernel/a.ko"}
	noInfo.Read = func(string) ([]byte, error) { return []byte("no module at all, but some text"), nil }
	cases := []struct {
		name  string
		tree  *Tree
		ask   []string
		wants []string
	}{
		{"unknown names, all of them", sample(), []string{"nft_ct", "wifi", "modem"}, []string{
			"module wifi does not exist in kernel 6.12.1-test: remove it from the board's list",
			"module modem does not exist"}},
		{"wrong architecture", foreign, []string{"a"}, []string{"module kernel/a.ko is for EM_AARCH64, the board needs arm"}},
		{"other kernel", other, []string{"a"}, []string{"is for kernel 6.12.1-test and not 6.99"}},
		{"dependency not packaged", lacks, []string{"a"}, []string{"module a needs b"}},
		{"damaged", damaged, []string{"a"}, []string{"module kernel/a.ko.xz: "}},
		{"no module", noInfo, []string{"a"}, []string{"is no ELF file"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.tree.Select(c.ask)
			for _, want := range c.wants {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q in it", err, want)
				}
			}
		})
	}
	if _, err := foreign.Select([]string{"a"}); !errors.Is(err, arch.ErrWrong) {
		t.Errorf("%v is not arch.ErrWrong", err)
	}
}

// The result is the same whatever the order of the package and of the list.
func TestOrderDoesNotMatter(t *testing.T) {
	ask := []string{"nft_ct", "virtio_net", "crc32c_generic", "unwanted"}
	a, err := sample().Select(ask)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(ask)
	tr := sample()
	slices.Sort(tr.Files)
	slices.Reverse(tr.Files)
	b, err := tr.Select(ask)
	if err != nil {
		t.Fatal(err)
	}
	if x, y := fmt.Sprint(a.Tables()), fmt.Sprint(b.Tables()); x != y {
		t.Errorf("%s\n%s", x, y)
	}
}

func FuzzModinfo(f *testing.F) {
	f.Add([]byte("name=x\x00depends=a,b-c,\x00softdep=pre: a post: b\x00alias=*\x00"))
	f.Add([]byte("softdep=a b pre:\x00=\x00depends"))
	f.Fuzz(func(t *testing.T, b []byte) {
		info := parseInfo(b)
		for _, d := range info.Depends {
			if d == "" || strings.Contains(d, "-") {
				t.Errorf("dependency %q of %q", d, b)
			}
		}
	})
}
