package mirror

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"weir/netstack/frame"
	"weir/netstack/mirror/nl"
	"weir/netstack/mirror/policy"
	"weir/netstack/mirror/rib"
	"weir/netstack/mirror/rtnl"
	"weir/netstack/snapshot"
)

// Config says what to mirror.
type Config struct {
	// Ports are the names of the interfaces that are our ports, at most
	// frame.MaxPorts. A port's number is its place in this list, whether or not
	// the interface exists at the moment.
	Ports []string
	// OnChange is called on Run's goroutine with every snapshot, after it has
	// become Current. changed are the prefixes whose entry in the FIB differs, nil
	// (as opposed to empty) for everything; next hops and ports are to be compared.
	// The first call has prev nil. May be nil.
	OnChange func(prev, next *snapshot.Snapshot, changed []netip.Prefix)
	// Log may be nil: slog.Default.
	Log *slog.Logger
	// EventBuffer is the receive buffer for events in bytes, 0: DefaultEventBuffer.
	EventBuffer int
}

// DefaultEventBuffer takes about 20,000 route events (each some 800 bytes of
// kernel memory) while the mirror is busy with a dump.
const DefaultEventBuffer = 16 << 20

// MaxNextHops bounds the next hops of a snapshot; routes and neighbours beyond
// are left to the kernel. Linux holds 1024 neighbours by default (gc_thresh3).
const MaxNextHops = 65536

const (
	// publishEvery bounds snapshots under load: each costs a copy of the next
	// hops, and map updates in tier 0; 2 ms is far below what people notice.
	publishEvery = 2 * time.Millisecond
	// pollEvery bounds the age of what the kernel sends no event for: iptables
	// tables, tcx programs, some settings.
	pollEvery = 250 * time.Millisecond
	// wholeEvery is how often the rest is read too, should an event be missed that
	// nobody thought of.
	wholeEvery = 5 * time.Second
	// settle is how long after an event that moves routes silently the tables are
	// read once more, in case the first reading came too early.
	settle = 150 * time.Millisecond
	// syncPause times the duration of the last reading is the least pause before
	// the next, so that a hundred thousand routes on flapping links do not eat the
	// CPU.
	syncPause = 3
)

// Mirror follows the kernel. Make it with New.
type Mirror struct {
	cfg     Config
	log     *slog.Logger
	events  *nl.Conn // multicast only
	queries *nl.Conn // dumps
	orders  *nl.Conn // Confirm
	thread  *thread
	reader  *policy.Reader // used on thread
	kicks   [2]*nl.Conn    // netfilter's and xfrm's events; nil until the kernel has them

	slabs    chan slab
	free     chan []byte
	kick     chan struct{}
	done     chan struct{} // closed at the end
	confirms chan []uint32

	rib   *rib.RIB
	links map[uint32]rtnl.Link
	addrs map[rtnl.Address]struct{}

	facts       *policy.Facts
	verdicts    []policy.Verdict
	local4      snapshot.Local4
	localDirty  bool
	policyDirty bool      // read it all anew
	pollDue     bool      // read what sends no event
	wholeAt     time.Time // when to read it all next, whatever happens
	portsDirty  bool
	routesDirty [2]bool   // by family: dump again
	settleAt    time.Time // zero: no need
	syncAfter   time.Time // not before
	expireAt    time.Time // zero: no route ends

	current  atomic.Pointer[snapshot.Snapshot]
	statsMu  sync.Mutex
	stats    Stats
	running  atomic.Bool
	closing  atomic.Bool
	children sync.WaitGroup
}

// New opens everything in the calling thread's network namespace, reads the
// kernel's whole state once and makes the first snapshot.
func New(cfg Config) (*Mirror, error) {
	if len(cfg.Ports) > frame.MaxPorts {
		return nil, fmt.Errorf("%d ports are more than the %d that there can be", len(cfg.Ports), frame.MaxPorts)
	}
	for i, name := range cfg.Ports {
		if slices.Contains(cfg.Ports[:i], name) {
			return nil, fmt.Errorf("port %s is named twice", name)
		}
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.EventBuffer == 0 {
		cfg.EventBuffer = DefaultEventBuffer
	}
	m := &Mirror{
		cfg:      cfg,
		log:      cfg.Log,
		slabs:    make(chan slab, slabCount),
		free:     make(chan []byte, slabCount),
		kick:     make(chan struct{}, 1),
		done:     make(chan struct{}),
		confirms: make(chan []uint32, 16),
		rib:      rib.New(len(cfg.Ports), MaxNextHops),
		links:    make(map[uint32]rtnl.Link),
		addrs:    make(map[rtnl.Address]struct{}),
		verdicts: make([]policy.Verdict, len(cfg.Ports)),
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := m.open(); err != nil {
		m.Close()
		return nil, err
	}
	m.readPolicy(true)
	if err := m.resync(); err != nil {
		m.Close()
		return nil, err
	}
	m.publish()
	return m, nil
}

var routeGroups = []uint32{
	unix.RTNLGRP_LINK, unix.RTNLGRP_NEIGH, unix.RTNLGRP_TC, unix.RTNLGRP_NEXTHOP,
	unix.RTNLGRP_IPV4_IFADDR, unix.RTNLGRP_IPV4_ROUTE, unix.RTNLGRP_IPV4_RULE, unix.RTNLGRP_IPV4_NETCONF,
	unix.RTNLGRP_IPV6_IFADDR, unix.RTNLGRP_IPV6_ROUTE, unix.RTNLGRP_IPV6_RULE, unix.RTNLGRP_IPV6_NETCONF,
}

func (m *Mirror) open() (err error) {
	// Events first: what changes after the dumps is then sure to be told.
	if m.events, err = nl.Dial(unix.NETLINK_ROUTE, routeGroups...); err != nil {
		return err
	}
	if err := m.events.SetReadBuffer(m.cfg.EventBuffer); err != nil {
		return err
	}
	if m.queries, err = nl.Dial(unix.NETLINK_ROUTE); err != nil {
		return err
	}
	if m.orders, err = nl.Dial(unix.NETLINK_ROUTE); err != nil {
		return err
	}
	if m.thread, err = newThread(); err != nil {
		return err
	}
	m.thread.do(func() { m.reader, err = policy.NewReader() })
	return err
}

// Close gives everything back. It is called by Run at its end; call it for a
// Mirror that never ran.
func (m *Mirror) Close() {
	if m.closing.Swap(true) {
		return
	}
	close(m.done)
	for _, c := range []*nl.Conn{m.events, m.queries, m.orders, m.kicks[0], m.kicks[1]} {
		if c != nil {
			c.Close()
		}
	}
	m.children.Wait()
	if m.thread != nil {
		if m.reader != nil {
			m.thread.do(m.reader.Close)
		}
		m.thread.close()
	}
}

// Current is the newest snapshot; never nil, never changed.
func (m *Mirror) Current() *snapshot.Snapshot { return m.current.Load() }

// Confirm tells the kernel that the neighbours of these next hops are in use, so
// that it confirms those that it does not hold for reachable. It does not wait; a
// call that comes faster than they can be handled is dropped, so call it again
// while the next hops are in use.
func (m *Mirror) Confirm(ids []uint32) {
	select {
	case m.confirms <- slices.Clone(ids):
	default:
	}
}

// errRun: Run has a state of its own, once.
var errRun = errors.New("mirror runs already, or has run")

// Run follows the kernel until ctx ends, and then returns nil. A Mirror runs
// once.
func (m *Mirror) Run(ctx context.Context) error {
	if m.running.Swap(true) {
		return errRun
	}
	defer m.Close()
	stop := context.AfterFunc(ctx, func() { m.events.Close() })
	defer stop()
	if m.cfg.OnChange != nil {
		m.cfg.OnChange(nil, m.Current(), nil)
	}
	for range slabCount {
		m.free <- make([]byte, slabSize)
	}
	m.children.Add(1)
	go m.readEvents()
	m.policyDirty = m.followKicks()
	return m.loop(ctx)
}
