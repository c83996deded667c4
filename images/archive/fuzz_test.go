package archive

import (
	"strings"
	"testing"
	"time"
)

func FuzzPackages(f *testing.F) {
	f.Add("Package: a\nVersion: 1\nDepends: b (>= 1) | c, d:any\nFilename: pool/a.deb\nSize: 3\nSHA256: 00\n\nPackage: b\n")
	f.Add("Package: a\nSize: x\n")
	f.Add(" Package: a\n\n\n: \nDepends: ,, ,\n")
	f.Fuzz(func(t *testing.T, text string) {
		ps, err := parsePackages(strings.NewReader(text), func(n string) bool { return n == "a" })
		if err != nil {
			return
		}
		for _, p := range ps {
			if p.Name != "a" {
				t.Errorf("kept %q", p.Name)
			}
		}
	})
}

// Nothing unsigned is accepted, whatever it looks like.
func FuzzRelease(f *testing.F) {
	f.Add([]byte("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nSuite: stable\nDate: Sat, 21 Nov 2026 09:15:44 UTC\nSHA256:\n 00 1 x\n-----BEGIN PGP SIGNATURE-----\n\nwsB=\n-----END PGP SIGNATURE-----\n"))
	f.Add([]byte("Suite: stable\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := parseRelease(b, nil, time.Time{}); err == nil {
			t.Errorf("accepted without a key: %+v", r)
		}
	})
}

// An order: antisymmetric, and every version equals itself.
func FuzzCompareVersions(f *testing.F) {
	f.Add("1.0~rc1-1", "1.0-1+deb13u1")
	f.Add("1:0", "0:~")
	f.Add("-", ":")
	f.Fuzz(func(t *testing.T, a, b string) {
		if x, y := CompareVersions(a, b), CompareVersions(b, a); x != -y {
			t.Errorf("compare %q with %q: %d, and back %d", a, b, x, y)
		}
		if CompareVersions(a, a) != 0 {
			t.Errorf("%q differs from itself", a)
		}
	})
}
