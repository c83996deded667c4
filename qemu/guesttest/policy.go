package guesttest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"weir/qemu/gateway"
	"weir/qemu/traffic"
)

// policy is something the kernel consults and Weir cannot express: while it is
// there the kernel decides, and the status says why.
type policy struct {
	on, off [][]string // tools in the guest
	port    string     // whose status names it
	reason  string     // in its Slow
	// slow4 and slow6: which families it takes off the fast path.
	slow4, slow6 bool
	// lost4 and lost6: what the kernel's answer is, per family.
	lost4, lost6 bool
	from         netip.Addr // IPv4 source of the load, if not the client's
}

func (p policy) test(ctx context.Context, e *env) (err error) {
	if _, err := e.settled(ctx); err != nil {
		return err
	}
	tools := func(list [][]string) error {
		var errs []error
		for _, args := range list {
			errs = append(errs, e.Tool(ctx, args...))
		}
		return errors.Join(errs...)
	}
	if err := tools(p.on); err != nil {
		return errors.Join(err, tools(p.off))
	}
	held := p.holds(ctx, e)
	if err := errors.Join(held, tools(p.off)); err != nil {
		return err
	}
	if _, err := e.settled(ctx); err != nil {
		return fmt.Errorf("after it was taken away: %w", err)
	}
	s, err := e.load(ctx, traffic.Load{Flows: 20, Frames: 600, Rate: 1000})
	if err != nil {
		return err
	}
	return s.throughWorkers()
}

// holds checks what is to be while the policy is there.
func (p policy) holds(ctx context.Context, e *env) error {
	s, err := e.WaitStatus(ctx, func(s *gateway.Status) string {
		port := s.Port(p.port)
		if !strings.Contains(strings.Join(port.Slow, "\n"), p.reason) {
			return fmt.Sprintf("the status of %s does not name %q: %q", p.port, p.reason, port.Slow)
		}
		return ""
	})
	if err != nil {
		return err
	}
	e.log("%s: %s", p.port, strings.Join(s.Port(p.port).Slow, "; "))
	for _, f := range []struct {
		family     int
		slow, lost bool
	}{{4, p.slow4, p.lost4}, {6, p.slow6, p.lost6}} {
		from := gateway.End(e.client)
		if p.from.IsValid() {
			from.Addr[0] = p.from
		}
		l, err := e.loadBetween(ctx, from, gateway.End(e.server), traffic.Load{Flows: 20, Frames: 300, Rate: 1000, Only: f.family})
		if err != nil {
			return err
		}
		switch {
		case f.lost && l.Received > 0:
			return fmt.Errorf("IPv%d: the kernel alone would forward nothing, and %d frames arrived", f.family, l.Received)
		case !f.lost && l.Err() != nil:
			return fmt.Errorf("IPv%d: %w", f.family, l.Err())
		case f.slow && l.fast > 0:
			return fmt.Errorf("IPv%d: workers forwarded %d frames", f.family, l.fast)
		case !f.slow && !f.lost:
			if err := l.throughWorkers(); err != nil {
				return fmt.Errorf("IPv%d is not concerned: %w", f.family, err)
			}
		}
	}
	return nil
}

func nftablesDrop(ctx context.Context, e *env) error {
	return policy{on: [][]string{{"nft", "on"}}, off: [][]string{{"nft", "off"}}, port: "lan", reason: "nftables",
		slow4: true, slow6: true, lost4: true, lost6: true}.test(ctx, e)
}

// ipRule: the kernel answers that it is prohibited; IPv6 is not concerned.
func ipRule(ctx context.Context, e *env) error {
	return policy{on: [][]string{{"rule", "on"}}, off: [][]string{{"rule", "off"}}, port: "lan", reason: "ip rule 100",
		slow4: true, lost4: true}.test(ctx, e)
}

// rpFilter: a source that lives elsewhere is dropped by a strict router alone.
func rpFilter(ctx context.Context, e *env) error {
	return policy{on: [][]string{{"sysctl", "net/ipv4/conf/lan/rp_filter", "1"}}, off: [][]string{{"sysctl", "net/ipv4/conf/lan/rp_filter", "0"}},
		port: "lan", reason: "rp_filter", slow4: true, lost4: true, from: netip.MustParseAddr("192.0.2.77")}.test(ctx, e)
}

func tcFilter(ctx context.Context, e *env) error {
	return policy{on: [][]string{{"tc", "on"}}, off: [][]string{{"tc", "off"}}, port: "lan", reason: "tc",
		slow4: true, slow6: true, lost4: true, lost6: true}.test(ctx, e)
}

func forwardingOff(ctx context.Context, e *env) error {
	return policy{on: [][]string{{"sysctl", "net/ipv4/conf/lan/forwarding", "0"}}, off: [][]string{{"sysctl", "net/ipv4/conf/lan/forwarding", "1"}},
		port: "lan", reason: "forwarding", slow4: true, lost4: true}.test(ctx, e)
}

// shapedPort: XDP and the workers would go past the queue, so the kernel sends.
func shapedPort(ctx context.Context, e *env) error {
	return policy{on: [][]string{{"shape", "on"}}, off: [][]string{{"shape", "off"}}, port: "wan", reason: "tbf",
		slow4: true, slow6: true}.test(ctx, e)
}

func xfrmPolicy(ctx context.Context, e *env) error {
	return policy{on: [][]string{{"xfrm", "on"}}, off: [][]string{{"xfrm", "off"}}, port: "lan", reason: "xfrm",
		slow4: true, lost4: true}.test(ctx, e)
}
