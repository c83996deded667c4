package port

import (
	"context"
	"errors"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// rulePriority puts Weir's rules after that of the local table (0), so that
// what is for this machine still arrives, and before everything else.
const rulePriority = 1

// Routes lists the main table's routes that carry Protocol.
func (Linux) Routes() ([]KernelRoute, error) {
	filter := &netlink.Route{Protocol: Protocol, Table: unix.RT_TABLE_MAIN}
	list, err := dump(func() ([]netlink.Route, error) {
		return netlink.RouteListFiltered(netlink.FAMILY_ALL, filter, netlink.RT_FILTER_PROTOCOL|netlink.RT_FILTER_TABLE)
	})
	if err != nil {
		return nil, err
	}
	var routes []KernelRoute
	for _, r := range list {
		k := KernelRoute{To: prefix(r.Dst), Index: r.LinkIndex, OnLink: r.Flags&unix.RTNH_F_ONLINK != 0}
		if r.Gw != nil {
			k.Via, _ = netip.AddrFromSlice(r.Gw)
		}
		routes = append(routes, k)
	}
	return routes, nil
}

func kernelRoute(k KernelRoute) *netlink.Route {
	r := &netlink.Route{Dst: ipnet(k.To), LinkIndex: k.Index, Protocol: Protocol, Table: unix.RT_TABLE_MAIN}
	if k.Via.IsValid() {
		r.Gw = k.Via.AsSlice()
	} else if k.To.Addr().Is4() {
		r.Scope = netlink.SCOPE_LINK
	}
	if k.OnLink {
		r.Flags = unix.RTNH_F_ONLINK
	}
	return r
}

func (Linux) AddRoute(k KernelRoute, replace bool) error {
	if replace {
		return netlink.RouteReplace(kernelRoute(k))
	}
	return netlink.RouteAdd(kernelRoute(k))
}

func (Linux) DelRoute(k KernelRoute) error { return netlink.RouteDel(kernelRoute(k)) }

func (Linux) Blocks() ([]string, error) {
	rules, err := dump(func() ([]netlink.Rule, error) { return netlink.RuleList(netlink.FAMILY_V6) })
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range rules {
		if r.Protocol == Protocol && r.IifName != "" {
			names = append(names, r.IifName)
		}
	}
	return names, nil
}

func block(name string) *netlink.Rule {
	r := netlink.NewRule()
	r.Family = netlink.FAMILY_V6
	r.Priority = rulePriority
	r.IifName = name
	r.Protocol = Protocol
	r.Type = unix.RTN_BLACKHOLE
	return r
}

func (Linux) Block(name string) error   { return netlink.RuleAdd(block(name)) }
func (Linux) Unblock(name string) error { return netlink.RuleDel(block(name)) }

// Subscribe listens to the link group. Events that the kernel dropped for want
// of buffer are a change like any other.
func (Linux) Subscribe(ctx context.Context) (<-chan struct{}, error) {
	s, err := nl.Subscribe(unix.NETLINK_ROUTE, unix.RTNLGRP_LINK)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, s.Close)
	ch := make(chan struct{}, 1)
	go func() {
		defer close(ch)
		for {
			if _, _, err := s.Receive(); err != nil && !errors.Is(err, unix.ENOBUFS) {
				return
			}
			select {
			case ch <- struct{}{}:
			default: // one is waiting already
			}
		}
	}()
	return ch, nil
}
