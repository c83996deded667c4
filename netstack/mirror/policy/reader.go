package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"weir/netstack/mirror/nl"
	"weir/netstack/mirror/rtnl"
)

// Reader reads Facts.
type Reader struct {
	route     *nl.Conn
	netfilter *nl.Conn // nil until the kernel has it
	xfrm      *nl.Conn
}

// NewReader opens what reading needs, in the calling thread's network namespace.
func NewReader() (*Reader, error) {
	c, err := nl.Dial(unix.NETLINK_ROUTE)
	if err != nil {
		return nil, err
	}
	return &Reader{route: c}, nil
}

// Close closes the sockets.
func (r *Reader) Close() {
	for _, c := range []*nl.Conn{r.route, r.netfilter, r.xfrm} {
		if c != nil {
			c.Close()
		}
	}
}

// Read reads everything anew for the interfaces called ports. What cannot be
// read is in Facts.Failed.
func (r *Reader) Read(ports []string) *Facts {
	f := &Facts{Failed: make(map[Source]error)}
	r.readSilent(f, ports)
	f.try(FromConf4, r.readConf(unix.AF_INET, &f.All4))
	f.try(FromConf6, r.readConf(unix.AF_INET6, &f.All6))
	f.try(FromRules4, r.readRules(unix.AF_INET, &f.Rules4))
	f.try(FromRules6, r.readRules(unix.AF_INET6, &f.Rules6))
	chains, tables := r.readNetfilter(f)
	f.try(FromNFTables, chains)
	f.try(FromFlowtable, tables)
	f.try(FromXFRM, r.readXFRM(f))
	f.try(FromQdiscs, r.readQdiscs(f))
	f.try(FromFilters, r.readFilters(f, f.indexes(ports)))
	return f
}

// Poll reads only what the kernel sends no event for, and takes the rest from
// prev, which stays as it is. Where something of the rest could not be read, or a
// protocol has appeared, it reads everything.
func (r *Reader) Poll(prev *Facts, ports []string) *Facts {
	if len(prev.Failed) > 0 || r.netfilter == nil && Present(unix.NETLINK_NETFILTER) || r.xfrm == nil && Present(unix.NETLINK_XFRM) {
		return r.Read(ports)
	}
	f := *prev
	f.Failed = make(map[Source]error)
	r.readSilent(&f, ports)
	return &f
}

// readSilent reads what has no event; the links because of their settings.
func (r *Reader) readSilent(f *Facts, ports []string) {
	f.try(FromLinks, r.readLinks(f))
	f.try(FromSysctl4, errors.Join(
		readSysctl("net/ipv4/conf/all/accept_redirects", &f.Redirects4),
		readSysctl("net/ipv4/ip_forward_use_pmtu", &f.UsePMTU)))
	f.try(FromIPTables4, readNames("ip_tables_names", &f.Tables4))
	f.try(FromIPTables6, readNames("ip6_tables_names", &f.Tables6))
	f.try(FromIPVS, readIPVS(&f.IPVS))
	f.try(FromTCX, readTCX(f, f.indexes(ports)))
	f.try(FromHooks, readHooks(f))
}

func (f *Facts) try(s Source, err error) {
	if err != nil {
		f.Failed[s] = err
	}
}

// indexes are the interfaces called names.
func (f *Facts) indexes(names []string) (of []uint32) {
	for i := range f.Links {
		if slices.Contains(names, f.Links[i].Name) {
			of = append(of, f.Links[i].Index)
		}
	}
	return of
}

// skipStats is RTEXT_FILTER_SKIP_STATS: counters would be half of each message.
const skipStats = 1 << 3

func (r *Reader) readLinks(f *Facts) error {
	req := make([]byte, unix.SizeofIfInfomsg)
	req = nl.AppendAttr(req, unix.IFLA_EXT_MASK, u32(skipStats))
	return r.route.Dump(unix.RTM_GETLINK, req, func() { f.Links = nil }, func(m nl.Message) error {
		if l, ok := rtnl.ParseLink(m.Data); ok && m.Type == unix.RTM_NEWLINK {
			l.Conf4, l.Conf6 = slices.Clone(l.Conf4), slices.Clone(l.Conf6)
			f.Links = append(f.Links, l)
		}
		return nil
	})
}

// NETCONFA_* of include/uapi/linux/netconf.h.
const (
	netconfIfIndex    = 1
	netconfForwarding = 2
	netconfRPFilter   = 3
	netconfProxyNeigh = 5

	netconfAll = ^uint32(0) // NETCONFA_IFINDEX_ALL
)

func (r *Reader) readConf(family byte, all *Conf) error {
	found := false
	req := []byte{family, 0, 0, 0} // struct netconfmsg, padded
	err := r.route.Dump(unix.RTM_GETNETCONF, req, func() { found = false }, func(m nl.Message) error {
		if len(m.Data) < 4 || m.Data[0] != family {
			return nil
		}
		var c Conf
		var of uint32
		at := nl.Attributes(m.Data[4:])
		for typ, v, ok := at.Next(); ok; typ, v, ok = at.Next() {
			switch typ {
			case netconfIfIndex:
				of = nl.U32(v)
			case netconfForwarding:
				c.Forwarding = int(int32(nl.U32(v)))
			case netconfRPFilter:
				c.RPFilter = int(int32(nl.U32(v)))
			case netconfProxyNeigh:
				c.ProxyNeigh = int(int32(nl.U32(v)))
			}
		}
		if of == netconfAll {
			*all, found = c, true
		}
		return nil
	})
	if err == nil && !found {
		err = errors.New("the kernel tells no settings for all interfaces")
	}
	return err
}

func readSysctl(name string, to *int) error {
	b, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	*to = n
	return nil
}

// readRules reads the rules of a family: struct fib_rule_hdr (u8 family,
// dst_len, src_len, tos, table, res1, res2, action; u32 flags), then FRA_*.
func (r *Reader) readRules(family byte, to *[]Rule) error {
	const size, toTable, permanent = 12, 1, 1 // FR_ACT_TO_TBL, FIB_RULE_PERMANENT
	req := make([]byte, size)
	req[0] = family
	return r.route.Dump(unix.RTM_GETRULE, req, func() { *to = nil }, func(m nl.Message) error {
		b := m.Data
		if len(b) < size || b[0] != family {
			return nil
		}
		rule := Rule{Table: uint32(b[4])}
		rule.Plain = b[1] == 0 && b[2] == 0 && b[3] == 0 && b[7] == toTable && nl.U32(b[8:])&^permanent == 0
		at := nl.Attributes(b[size:])
		for typ, v, ok := at.Next(); ok; typ, v, ok = at.Next() {
			switch typ {
			case unix.FRA_TABLE:
				rule.Table = nl.U32(v)
			case unix.FRA_PRIORITY:
				rule.Priority = nl.U32(v)
			case unix.FRA_SUPPRESS_PREFIXLEN, unix.FRA_SUPPRESS_IFGROUP:
				rule.Plain = rule.Plain && nl.U32(v) == ^uint32(0)
			case unix.FRA_PROTOCOL, unix.FRA_PAD:
			default:
				rule.Plain = false
			}
		}
		rule.Plain = rule.Plain && !at.Bad()
		*to = append(*to, rule)
		return nil
	})
}

// readNames reads the iptables tables in use, which a kernel without iptables
// has no file for.
func readNames(file string, to *[]string) error {
	b, err := os.ReadFile("/proc/thread-self/net/" + file)
	if errors.Is(err, fs.ErrNotExist) {
		*to = nil
		return nil
	}
	if err != nil {
		return err
	}
	*to = strings.Fields(string(b))
	return nil
}

// readIPVS counts the lines of the table of virtual services below its heading
// of three (ip_vs_info_seq_show, net/netfilter/ipvs/ip_vs_ctl.c).
func readIPVS(to *int) error {
	b, err := os.ReadFile("/proc/thread-self/net/ip_vs")
	if errors.Is(err, fs.ErrNotExist) {
		*to = 0
		return nil
	}
	if err != nil {
		return err
	}
	*to = max(strings.Count(string(b), "\n")-3, 0)
	return nil
}

// Present says whether the kernel has a netlink protocol, without asking for it
// to be loaded, as opening a socket of it would: where it is there, the kernel
// has a socket of its own in each network namespace.
func Present(protocol int) bool {
	b, err := os.ReadFile("/proc/thread-self/net/netlink")
	if err != nil {
		return true // opening tells
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line) // sk Eth Pid …
		if len(f) > 2 && f[1] == strconv.Itoa(protocol) && f[2] == "0" {
			return true
		}
	}
	return false
}
