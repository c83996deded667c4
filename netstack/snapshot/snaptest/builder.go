package snaptest

import (
	"fmt"
	"net"
	"net/netip"

	"weir/netstack/fib"
	"weir/netstack/frame"
	"weir/netstack/snapshot"
)

// Builder collects ports, next hops and routes. Its methods panic on input that
// makes no sense, so that a plan is a list of plain calls.
type Builder struct {
	s     snapshot.Snapshot
	fib   *fib.Table
	local []netip.Addr
}

// New starts an empty plan.
func New() *Builder {
	return &Builder{
		s:   snapshot.Snapshot{Generation: 1, NextHops: make([]snapshot.NextHop, 1)},
		fib: fib.New(),
	}
}

// MAC parses a MAC address.
func MAC(s string) [6]byte {
	m, err := net.ParseMAC(s)
	if err != nil || len(m) != 6 {
		panic(fmt.Sprintf("snaptest: MAC %q", s))
	}
	return [6]byte(m)
}

// Port adds a port that is fast for both families. Its interface index is its
// PortID plus 10.
func (b *Builder) Port(name, mac string, mtu int) frame.PortID {
	id := frame.PortID(len(b.s.Ports))
	b.s.Ports = append(b.s.Ports, snapshot.Port{
		Name: name, IfIndex: int(id) + 10, MAC: MAC(mac), MTU: mtu, Fast4: true, Fast6: true,
	})
	return id
}

// Slow puts a port's families on the kernel path.
func (b *Builder) Slow(id frame.PortID, v4, v6 bool) {
	p := &b.s.Ports[id]
	p.Fast4, p.Fast6 = p.Fast4 && !v4, p.Fast6 && !v6
	p.Slow = append(p.Slow, "a test says so")
}

// NextHop adds a neighbour behind a port, with the port's MTU.
func (b *Builder) NextHop(out frame.PortID, mac string) uint32 {
	return b.NextHopMTU(out, mac, b.s.Ports[out].MTU)
}

// NextHopMTU adds a neighbour behind a port on a route with an MTU of its own.
func (b *Builder) NextHopMTU(out frame.PortID, mac string, mtu int) uint32 {
	return b.add(snapshot.NextHop{
		Kind: snapshot.KindForward, Out: out, MTU: uint32(mtu), DstMAC: MAC(mac), SrcMAC: b.s.Ports[out].MAC,
	})
}

func (b *Builder) add(h snapshot.NextHop) uint32 {
	b.s.NextHops = append(b.s.NextHops, h)
	return uint32(len(b.s.NextHops) - 1)
}

// Route leads a prefix to a next hop.
func (b *Builder) Route(prefix string, id uint32) {
	p := netip.MustParsePrefix(prefix).Masked()
	b.fib = b.fib.With([]fib.Change{{Prefix: p, Value: id}})
}

// Kernel leaves a prefix to the kernel, for a reason.
func (b *Builder) Kernel(prefix string, r frame.Reason) {
	b.Route(prefix, b.add(snapshot.NextHop{Reason: r}))
}

// Local adds addresses of the router itself.
func (b *Builder) Local(addrs ...string) {
	for _, s := range addrs {
		a := netip.MustParseAddr(s)
		b.local = append(b.local, a)
		b.Kernel(netip.PrefixFrom(a, a.BitLen()).String(), frame.ReasonLocal)
	}
}

// Snapshot is the plan as a value. It panics if the plan does not pass Check.
func (b *Builder) Snapshot() *snapshot.Snapshot {
	s := b.s
	s.FIB, s.Local4 = b.fib, snapshot.NewLocal4(b.local...)
	if err := s.Check(); err != nil {
		panic(fmt.Sprintf("snaptest: %v", err))
	}
	return &s
}
