package rib

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weir/netstack/frame"
	"weir/netstack/mirror/rtnl"
	"weir/netstack/snapshot"
)

var seed = flag.Uint64("rib.seed", 0, "seed of the random operations; 0: by the clock")

// model is the slow twin: a kernel whose tables are lists, asked by walking them.
type model struct {
	routes     []rtnl.Route // those of one key in the order of their precedence
	neighbours []rtnl.Neighbour
	ports      []Port
}

func (m *model) sameKey(a, b rtnl.Route) bool {
	return a.Table == b.Table && a.Dst == b.Dst && a.TOS == b.TOS && a.Metric == b.Metric
}

func (m *model) find(rt rtnl.Route) int {
	return slices.IndexFunc(m.routes, func(x rtnl.Route) bool { return m.sameKey(x, rt) })
}

// ask is the answer for one address, from the lists alone.
func (m *model) ask(a netip.Addr) snapshot.NextHop {
	var at []rtnl.Route // the longest prefix that holds a
	for _, rt := range m.routes {
		if !rt.Dst.Contains(a) || rt.Table != unix.RT_TABLE_MAIN && rt.Table != unix.RT_TABLE_LOCAL {
			continue
		}
		if len(at) > 0 && rt.Dst.Bits() > at[0].Dst.Bits() {
			at = nil
		}
		if len(at) == 0 || at[0].Dst == rt.Dst {
			at = append(at, rt)
		}
	}
	if len(at) == 0 {
		return snapshot.NextHop{Reason: frame.ReasonNoRoute}
	}
	kernelRoute := snapshot.NextHop{Reason: frame.ReasonKernelRoute}
	var local []rtnl.Route
	own := true
	for _, rt := range at {
		if rt.Table == unix.RT_TABLE_LOCAL {
			local = append(local, rt)
			own = own && (rt.Via.Type == unix.RTN_LOCAL || rt.Via.Type == unix.RTN_BROADCAST || rt.Via.Type == unix.RTN_ANYCAST || rt.Via.Type == unix.RTN_MULTICAST)
		}
	}
	if len(local) > 0 && own {
		return snapshot.NextHop{Reason: frame.ReasonLocal}
	}
	for _, rt := range m.routes {
		if rt.Table == unix.RT_TABLE_LOCAL && rt.Dst.Contains(a) && rt.Dst.Bits() < at[0].Dst.Bits() {
			return kernelRoute
		}
	}
	if len(local) > 0 {
		at = local
		if len(local) > 1 {
			return kernelRoute
		}
	}
	best := at[0]
	for _, rt := range at {
		if rt.TOS != 0 {
			return kernelRoute
		}
		if rt.Metric < best.Metric {
			best = rt
		}
	}
	for i, rt := range at {
		for _, other := range at[i+1:] {
			if m.sameKey(rt, other) {
				return kernelRoute // doubt, of whichever metric
			}
		}
	}
	v := best.Via
	switch v.Type {
	case unix.RTN_UNICAST:
	case unix.RTN_LOCAL, unix.RTN_BROADCAST, unix.RTN_ANYCAST:
		return snapshot.NextHop{Reason: frame.ReasonLocal}
	case unix.RTN_UNREACHABLE:
		return snapshot.NextHop{Reason: frame.ReasonNoRoute}
	default:
		return kernelRoute
	}
	port := slices.IndexFunc(m.ports, func(p Port) bool { return p.IfIndex == v.OIF && v.OIF != 0 })
	if v.Odd != 0 || port < 0 {
		return kernelRoute
	}
	p := m.ports[port]
	via := a
	if v.Gateway.IsValid() {
		via = v.Gateway
	}
	mtu := p.MTU4
	if a.Is6() {
		mtu = p.MTU6
	}
	if v.MTU != 0 && (a.Is4() || v.Locked) {
		mtu = min(mtu, v.MTU)
	}
	if a.Is6() {
		mtu = max(mtu, 1280)
	}
	n := slices.IndexFunc(m.neighbours, func(n rtnl.Neighbour) bool { return n.Addr == via && n.IfIndex == v.OIF && n.Valid })
	switch {
	case n < 0:
		return snapshot.NextHop{Reason: frame.ReasonUnresolved}
	case !p.Out:
		return snapshot.NextHop{Reason: frame.ReasonOutSlow}
	}
	return snapshot.NextHop{
		Kind: snapshot.KindForward, Out: frame.PortID(port), MTU: mtu,
		DstMAC: m.neighbours[n].MAC, SrcMAC: p.MAC, Stale: m.neighbours[n].Stale,
	}
}

// world makes random events from a universe so small that everything meets.
type world struct {
	*rand.Rand
	model
	rib *RIB
}

func (w *world) addr(v6 bool) netip.Addr {
	x := byte(w.IntN(16))
	if v6 {
		return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 15: x})
	}
	return netip.AddrFrom4([4]byte{10, 0, 0, x})
}

func (w *world) route() rtnl.Route {
	v6 := w.IntN(3) == 0
	a := w.addr(v6)
	bits := a.BitLen() - w.IntN(6)
	switch w.IntN(20) {
	case 0:
		bits = 0
	case 1:
		bits = 8
	}
	rt := rtnl.Route{Table: unix.RT_TABLE_MAIN, Dst: netip.PrefixFrom(a, bits).Masked(), Metric: uint32(w.IntN(3)), Protocol: unix.RTPROT_KERNEL}
	v := &rt.Via
	v.Type, v.OIF = unix.RTN_UNICAST, 1+min(uint32(w.IntN(10)), 9)/3
	switch w.IntN(24) {
	case 0:
		rt.Table, rt.Metric, v.Type = unix.RT_TABLE_LOCAL, 0, unix.RTN_LOCAL
	case 1:
		rt.Table, rt.Metric, v.Type = unix.RT_TABLE_LOCAL, 0, unix.RTN_BROADCAST
	case 2:
		rt.Table = unix.RT_TABLE_LOCAL
	case 3:
		v.Type = []byte{unix.RTN_BLACKHOLE, unix.RTN_UNREACHABLE, unix.RTN_THROW, unix.RTN_LOCAL}[w.IntN(4)]
	case 4:
		rt.TOS = 0x10
	case 5:
		v.Odd = OddAny[w.IntN(len(OddAny))]
	case 6:
		v.MTU, v.Locked = 1300, w.IntN(2) == 0
	case 7:
		rt.Table = 100
	}
	if rt.Table == unix.RT_TABLE_LOCAL && w.IntN(12) > 0 {
		rt.Dst = netip.PrefixFrom(a, a.BitLen()) // as most of that table is
	}
	if w.IntN(2) == 0 {
		v.Gateway = w.addr(w.IntN(8) == 0 != v6)
	}
	return rt
}

// OddAny are some oddities.
var OddAny = []rtnl.Odd{rtnl.OddMultipath, rtnl.OddEncap, rtnl.OddExpires, rtnl.OddUnknown}

// step changes the model and tells the RIB as the kernel would.
func (w *world) step() {
	for len(w.routes) > 24 { // or everything hides behind something
		w.drop(w.IntN(len(w.routes)))
	}
	switch w.IntN(10) {
	case 0, 1, 2: // add, refused if the key is taken; sometimes before or after the others
		rt := w.route()
		i := w.find(rt)
		switch {
		case i < 0:
			w.routes = append(w.routes, rt)
		case w.IntN(4) == 0 && w.routes[i].Via != rt.Via:
			w.routes = slices.Insert(w.routes, i, rt)
		case w.IntN(4) == 0 && w.routes[i].Via != rt.Via:
			w.routes = append(w.routes, rt)
		default:
			return
		}
		w.rib.Route(Add, rt)
	case 3: // replace the first of the key
		rt := w.route()
		if i := w.find(rt); i >= 0 {
			w.routes[i] = rt
		} else {
			w.routes = append(w.routes, rt)
		}
		w.rib.Route(Replace, rt)
	case 4, 5:
		if len(w.routes) > 0 {
			w.drop(w.IntN(len(w.routes)))
		}
	case 6, 7:
		n := rtnl.Neighbour{IfIndex: uint32(1 + w.IntN(3)), Addr: w.addr(w.IntN(2) == 0), MAC: [6]byte{2, 5: byte(w.IntN(3))}, Valid: w.IntN(4) > 0, Stale: w.IntN(2) == 0}
		i := slices.IndexFunc(w.neighbours, func(x rtnl.Neighbour) bool { return x.Addr == n.Addr && x.IfIndex == n.IfIndex })
		switch {
		case i < 0:
			w.neighbours = append(w.neighbours, n)
		case w.IntN(3) == 0:
			w.neighbours = slices.Delete(w.neighbours, i, i+1)
			w.rib.NoNeighbour(n)
			return
		default:
			w.neighbours[i] = n
		}
		w.rib.Neighbour(n)
	case 8:
		if w.IntN(8) > 0 {
			return
		}
		id := w.IntN(len(w.ports))
		p := Port{IfIndex: uint32(1 + id), MAC: [6]byte{2, 1, 5: byte(w.IntN(3))}, MTU4: 1400 + uint32(w.IntN(2))*100, MTU6: 1280 + uint32(w.IntN(2))*220, Out: w.IntN(6) > 0}
		if w.IntN(8) == 0 {
			p.IfIndex = 0 // vanished
		}
		w.ports[id] = p
		w.rib.SetPort(frame.PortID(id), p)
	case 9:
		if w.IntN(10) == 0 {
			w.loseAndDump()
		}
	}
}

func (w *world) drop(i int) {
	rt := w.routes[i]
	w.routes = slices.Delete(w.routes, i, i+1)
	w.rib.Route(Delete, rt)
}

// loseAndDump changes the model behind the RIB's back, then dumps; now and then
// the dump comes with an event that it contains already.
func (w *world) loseAndDump() {
	for range w.IntN(4) {
		if len(w.routes) > 0 {
			i := w.IntN(len(w.routes))
			w.routes = slices.Delete(w.routes, i, i+1)
		}
		if rt := w.route(); w.find(rt) < 0 {
			w.routes = append(w.routes, rt)
		}
		if len(w.neighbours) > 0 {
			i := w.IntN(len(w.neighbours))
			w.neighbours = slices.Delete(w.neighbours, i, i+1)
		}
	}
	w.dump()
	if len(w.routes) > 0 && w.IntN(2) == 0 {
		rt := w.routes[w.IntN(len(w.routes))]
		w.rib.Route([]Event{Add, Replace}[w.IntN(2)], rt)
	}
}

func (w *world) dump() {
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		w.rib.BeginRoutes(family)
		if w.IntN(4) == 0 { // interrupted, and begun again
			for _, rt := range w.routes[:len(w.routes)/2] {
				if familyOf(rt.Dst) == index(family) {
					w.rib.DumpedRoute(rt)
				}
			}
			w.rib.BeginRoutes(family)
		}
		for _, rt := range w.routes {
			if familyOf(rt.Dst) == index(family) {
				w.rib.DumpedRoute(rt)
			}
		}
		w.rib.EndRoutes(family)
	}
	w.rib.BeginNeighbours()
	for _, n := range w.neighbours {
		w.rib.Neighbour(n)
	}
	w.rib.EndNeighbours()
}

func TestAgainstTwin(t *testing.T) {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d (-rib.seed)", s)
	w := &world{Rand: rand.New(rand.NewPCG(s, 1)), rib: New(3, 4096)}
	w.ports = make([]Port, 3)
	for id := range w.ports {
		w.ports[id] = Port{IfIndex: uint32(1 + id), MAC: [6]byte{2, 1}, MTU4: 1500, MTU6: 1500, Out: true}
		w.rib.SetPort(frame.PortID(id), w.ports[id])
	}
	steps := 10000
	if testing.Short() {
		steps = 1000
	}
	var ids idRule
	forwarded := 0
	for i := range steps {
		w.step()
		if w.IntN(3) > 0 {
			continue // several events to one commit
		}
		res := w.rib.Commit()
		ids.check(t, w.rib, res)
		unsure := w.rib.Unsure(unix.AF_INET) || w.rib.Unsure(unix.AF_INET6)
		forwarded += w.compare(t, res, unsure, i)
		if unsure && w.IntN(3) == 0 {
			w.dump()
			if w.rib.Unsure(unix.AF_INET) || w.rib.Unsure(unix.AF_INET6) {
				t.Fatal("a dump leaves no doubt that another could clear")
			}
			res := w.rib.Commit()
			ids.check(t, w.rib, res)
			w.compare(t, res, false, i)
		}
	}
	if forwarded < steps/10 {
		t.Errorf("only %d of %d steps had a next hop among their answers: the test asks too little", forwarded, steps)
	}
}

// compare asks both about every address of the universe. While in doubt, the
// kernel may be left what need not be.
func (w *world) compare(t *testing.T, res Result, unsure bool, step int) (forwarded int) {
	t.Helper()
	for _, v6 := range []bool{false, true} {
		for x := range 17 {
			a := netip.AddrFrom4([4]byte{10, 0, 0, byte(x)})
			if v6 {
				a = netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 15: byte(x)})
			}
			var id uint32
			var ok bool
			if v6 {
				id, ok = res.FIB.Lookup6(a.As16())
			} else {
				id, ok = res.FIB.Lookup4(a.As4())
			}
			got := snapshot.NextHop{Reason: frame.ReasonNoRoute}
			if ok {
				got = res.NextHops[id]
			}
			if got.Kind == snapshot.KindKernel { // where it would have gone does not matter
				got.Out, got.MTU = 0, 0
			} else {
				forwarded = 1
			}
			want := w.ask(a)
			same := got == want
			if got.Kind == snapshot.KindKernel && want.Kind == snapshot.KindKernel {
				// Where two reasons hold, either may be named.
				same = same || want.Reason == frame.ReasonUnresolved && got.Reason == frame.ReasonOutSlow ||
					want.Reason == frame.ReasonKernelRoute && got.Reason == frame.ReasonLocal
			}
			if !same && !(unsure && got.Kind == snapshot.KindKernel) {
				t.Fatalf("step %d: %v gets %+v, twin says %+v\nroutes:%s", step, a, got, want, w.list(a))
			}
		}
	}
	return forwarded
}

func (w *world) list(a netip.Addr) (s string) {
	for _, rt := range w.routes {
		if rt.Dst.Contains(a) {
			s += fmt.Sprintf("\n  %+v", rt)
		}
	}
	return s
}
