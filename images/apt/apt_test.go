package apt

import (
	"errors"
	"slices"
	"testing"
	"testing/fstest"
)

func TestFirstDebianMain(t *testing.T) {
	cases := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"one-line", map[string]string{"sources.list": `
# deb http://commented.example/debian bookworm main
deb-src http://source.example/debian bookworm main
deb http://a.example/debian/ bookworm main contrib # and more
deb http://a.example/debian-security bookworm-security main
deb http://b.example/debian bookworm main`}, []string{"http://a.example/debian", "http://b.example/debian"}},
		{"options", map[string]string{"sources.list.d/x.list": "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] https://a.example/d12 bookworm main"},
			[]string{"https://a.example/d12"}},
		{"deb822", map[string]string{"sources.list.d/debian.sources": "Types: deb deb-src\n# why\nURIs: http://a.example/debian\n http://b.example/debian/\nSuites: bookworm\n bookworm-updates\nComponents: main\n\nTypes: deb\nURIs: http://a.example/debian-security\nSuites: bookworm-security\nComponents: main\n"},
			[]string{"http://a.example/debian", "http://b.example/debian"}},
		{"list before deb822", map[string]string{
			"sources.list.d/a.sources": "Types: deb\nURIs: http://second.example/debian\nSuites: stable\nComponents: main\n",
			"sources.list":             "deb http://first.example/debian stable main\n",
		}, []string{"http://first.example/debian", "http://second.example/debian"}},
		{"switched off", map[string]string{"sources.list.d/a.sources": "Enabled: no\nTypes: deb\nURIs: http://a.example/debian\nSuites: stable\nComponents: main\n"}, nil},
		{"other people's", map[string]string{"sources.list": "deb https://tool.example/node nodistro main\ndeb http://archive.example/ubuntu noble main\n"}, nil},
		{"not main", map[string]string{"sources.list": "deb http://a.example/debian bookworm contrib\n"}, nil},
		{"not http", map[string]string{"sources.list": "deb cdrom:[Debian]/debian bookworm main\n"}, nil},
		{"security in the path of main", map[string]string{"sources.list": "deb http://a.example/debian bookworm-security main\n"}, nil},
		{"nothing", nil, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fsys := make(fstest.MapFS)
			for name, text := range c.files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			sources, err := Read(fsys)
			if err != nil {
				t.Fatal(err)
			}
			got, err := FromSources(sources)
			if !slices.Equal(got, c.want) {
				t.Errorf("mirrors %q, want %q", got, c.want)
			}
			if (len(c.want) == 0) != errors.Is(err, ErrNone) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestEnvironmentWins(t *testing.T) {
	t.Setenv("DEBIAN_MIRROR", "http://mine.example/deb/")
	got, err := Mirrors()
	if err != nil || !slices.Equal(got, []string{"http://mine.example/deb"}) {
		t.Errorf("mirrors %q, %v", got, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("deb [signed-by=x] http://a.example/debian bookworm main\n")
	f.Add("Types: deb\nURIs: http://a.example/debian\n b\nSuites: s\nComponents: main\n\n")
	f.Add("deb [")
	f.Add(" x\n: y\ndeb\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range append(parseList(text), parseDeb822(text)...) {
			s.debianMain()
		}
	})
}
