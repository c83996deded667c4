//go:build !weirdebug

package umem

import (
	"strings"
	"testing"
)

// Audit finds what the free list cannot refuse.
func TestAuditFindsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(u *UMEM)
		want string
	}{
		"double put":       {func(u *UMEM) { a, _ := u.Get(); u.Get(); u.Put(a); u.Put(a + 300) }, "free twice"},
		"one put too many": {func(u *UMEM) { u.Put(0) }, "of no frame, or of a frame that was free"},
		"foreign address":  {func(u *UMEM) { u.Get(); u.Put(4 * 2048) }, "of no frame"},
		"huge address":     {func(u *UMEM) { u.Get(); u.Put(1 << 63) }, "of no frame"},
		"more than all":    {func(u *UMEM) { u.Attach(&box{rx: 1}) }, "there are 4"},
	} {
		u, err := New(4, 2048)
		if err != nil {
			t.Fatal(err)
		}
		c.do(u)
		if _, err := u.Audit(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
