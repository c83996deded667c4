package guesttest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"weir/qemu/demo"
	"weir/qemu/gateway"
	"weir/qemu/traffic"
)

// What the kernel has to do still works, and is counted as left to it.

// grows runs f and wants one of the punt reasons of port lan to grow.
func (e *env) grows(ctx context.Context, reason string, f func() error) error {
	before, err := e.settled(ctx)
	if err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	count := func(s *gateway.Status) (n uint64) {
		n = s.Port("lan").Punts[reason]
		for _, w := range s.Forwarder.Workers {
			n += w.Punts[reason]
		}
		return n
	}
	_, err = e.WaitStatus(ctx, func(s *gateway.Status) string {
		if s.Forwarder == nil || count(s) <= count(before) {
			return fmt.Sprintf("no frame was left to the kernel as %q", reason)
		}
		return ""
	})
	return err
}

// want runs ping, which may fail, and looks for words in what it prints.
func (e *env) want(ctx context.Context, words string, args ...string) error {
	out, err := e.client.Run(ctx, append([]string{"ping", "-n"}, args...)...)
	if !strings.Contains(out, words) {
		return fmt.Errorf("ping %s: no %q in:\n%s(%v)", strings.Join(args, " "), words, out, err)
	}
	return nil
}

// routerItself: ARP, ND, echo to the router's own addresses on both sides.
func routerItself(ctx context.Context, e *env) error {
	if _, err := e.client.Run(ctx, "ip", "neigh", "flush", "dev", e.client.Interface); err != nil {
		return err
	}
	return e.grows(ctx, "local", func() error {
		for _, h := range []int{0, 1} {
			for _, a := range []string{e.client.Gateway[h].String(), e.server.Gateway[h].String()} {
				if err := e.ping(ctx, a); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// fragments cross the router both ways, and the router answers them.
func fragments(ctx context.Context, e *env) error {
	for i, reason := range []string{"fragment", "ext-header"} {
		if err := e.grows(ctx, reason, func() error {
			return errors.Join(
				e.ping(ctx, e.server.Addr[i].Addr().String(), "-s", "3000"),
				e.ping(ctx, e.client.Gateway[i].String(), "-s", "3000"))
		}); err != nil {
			return err
		}
	}
	return nil
}

// options: a packet that records its route is forwarded, with the gateway's
// address in it.
func options(ctx context.Context, e *env) error {
	return e.grows(ctx, "options", func() error {
		return e.want(ctx, e.server.Gateway[0].String(), "-c", "1", "-W", "2", "-R", e.server.Addr[0].Addr().String())
	})
}

func ttlExpires(ctx context.Context, e *env) error {
	for i, words := range []string{"Time to live exceeded", "Time exceeded: Hop limit"} {
		if err := e.grows(ctx, "ttl", func() error {
			return e.want(ctx, "From "+e.client.Gateway[i].String()+" icmp_seq=1 "+words, "-c", "1", "-W", "2", "-t", "1", e.server.Addr[i].Addr().String())
		}); err != nil {
			return err
		}
	}
	return nil
}

// packetTooBig: the way out is narrower than the way in.
func packetTooBig(ctx context.Context, e *env) (err error) {
	if err := e.Tool(ctx, "mtu", "wan", "1400"); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, e.Tool(ctx, "mtu", "wan", "1500"))
		// What the client learned must not slow the tests that follow.
		for _, f := range []string{"-4", "-6"} {
			if _, ferr := e.client.Run(ctx, "ip", f, "route", "flush", "cache"); ferr != nil {
				err = errors.Join(err, ferr)
			}
		}
		if err == nil {
			_, err = e.settled(ctx)
		}
	}()
	for i, words := range []string{"Frag needed and DF set (mtu = 1400)", "Packet too big: mtu=1400"} {
		if err := e.grows(ctx, "too-big", func() error {
			return e.want(ctx, "From "+e.client.Gateway[i].String()+" icmp_seq=1 "+words, "-c", "1", "-W", "2", "-M", "do", "-s", "1420", e.server.Addr[i].Addr().String())
		}); err != nil {
			return err
		}
	}
	// Without DF the kernel cuts it up.
	return e.ping(ctx, e.server.Addr[0].Addr().String(), "-M", "dont", "-s", "1420")
}

// multicastStays: frames to a group and to all hosts do not cross.
func multicastStays(ctx context.Context, e *env) error {
	return e.grows(ctx, "multicast", func() error {
		from, to := gateway.End(e.client), gateway.End(e.server)
		for _, mac := range [][]byte{{1, 0, 0x5e, 1, 1, 1}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}} {
			from.GatewayMAC = mac
			s, err := e.loadBetween(ctx, from, to, traffic.Load{Flows: 10, Frames: 50, Rate: 500})
			if err != nil {
				return err
			}
			if s.Received != 0 {
				return fmt.Errorf("%d of 50 frames to %x were forwarded", s.Received, mac)
			}
		}
		return nil
	})
}

// neighbourUnknown: the kernel resolves what the workers then use.
func neighbourUnknown(ctx context.Context, e *env) error {
	return e.grows(ctx, "no-neighbour", func() error {
		if err := e.Tool(ctx, "neigh-flush", "wan"); err != nil {
			return err
		}
		for _, a := range e.server.Addr {
			if err := e.ping(ctx, a.Addr().String()); err != nil {
				return err
			}
		}
		s, err := e.load(ctx, traffic.Load{Flows: 50, Frames: 1000, Rate: 1000})
		if err != nil {
			return err
		}
		return s.throughWorkers()
	})
}

// hostOffloads: the hosts leave checksums and segmentation to the tap, as any
// virtual machine's host does; TCP both ways, by both families.
func hostOffloads(ctx context.Context, e *env) error {
	if _, err := e.settled(ctx); err != nil {
		return err
	}
	for _, family := range []int{4, 6} {
		for _, way := range []string{demo.ToServer, demo.ToClient} {
			i, err := demo.IperfRun(ctx, e.client, e.server, demo.Iperf{Protocol: "TCP", Family: family, Direction: way}, 2)
			if err != nil {
				return err
			}
			e.log("TCP IPv%d, %s: %.1f Mbit/s", family, way, i.Mbits)
			if i.Mbits == 0 {
				return fmt.Errorf("TCP IPv%d, %s: nothing arrived", family, way)
			}
		}
	}
	return nil
}
