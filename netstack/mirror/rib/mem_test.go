package rib

import (
	"encoding/binary"
	"net/netip"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/rtnl"
)

// TestMemory: a hundred thousand routes by one gateway, table and next hops
// included, fit a box with 512 MiB many times over.
func TestMemory(t *testing.T) {
	const routes, limit = 100_000, 24 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r := New(1, 65536)
	r.SetPort(0, Port{IfIndex: 1, MTU4: 1500, MTU6: 1500, Out: true})
	via := rtnl.Via{Type: unix.RTN_UNICAST, OIF: 1, Gateway: netip.MustParseAddr("10.0.0.1")}
	for i := range routes {
		var a [4]byte
		binary.BigEndian.PutUint32(a[:], 11<<24+uint32(i)*592) // spread over a /6, in /24s
		r.Route(Add, rtnl.Route{Table: unix.RT_TABLE_MAIN, Dst: netip.PrefixFrom(netip.AddrFrom4(a), 24).Masked(), Via: via})
	}
	res := r.Commit()
	if v4, _ := res.FIB.Len(); v4 != routes {
		t.Fatalf("%d prefixes of %d", v4, routes)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	used := after.HeapAlloc - before.HeapAlloc
	t.Logf("%d KiB for %d routes", used>>10, routes)
	if used > limit {
		t.Errorf("%d routes take %d MiB, more than %d", routes, used>>20, limit>>20)
	}
	runtime.KeepAlive(r)
}
