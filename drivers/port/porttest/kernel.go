package porttest

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"weir/drivers/port"
)

// Kernel implements port.Kernel in memory.
type Kernel struct {
	mu      sync.Mutex
	next    int
	links   map[int]*port.Link
	places  map[int]port.Place
	addrs   []port.Address
	routes  []port.KernelRoute
	foreign []port.KernelRoute // of other protocols
	blocks  []string
	sysctl  map[string]string
	subs    map[chan struct{}]bool
	log     []string

	// RenameNeedsDown is how kernels before 6.2 are: EBUSY while a link is up.
	RenameNeedsDown bool
	// NoIPv6 is a kernel without IPv6.
	NoIPv6 bool
	// AltNames are second names of links, which nothing else may have.
	AltNames map[string]bool
	// Fail has errors for calls, by "METHOD NAME" (Rename eth0, Block lan…) or
	// "METHOD"; NAME is the link's when it is called.
	Fail map[string]error
}

var _ port.Kernel = (*Kernel)(nil)

// perLink are the settings that a link has of its own.
var perLink = []string{"ipv4/conf/%s/forwarding", "ipv6/conf/%s/forwarding", "ipv4/conf/%s/accept_redirects"}

// New returns a kernel with a loopback interface.
func New() *Kernel {
	k := &Kernel{
		links: map[int]*port.Link{}, places: map[int]port.Place{}, subs: map[chan struct{}]bool{},
		sysctl: map[string]string{"ipv4/conf/all/forwarding": "0", "ipv6/conf/all/forwarding": "0"},
	}
	k.Add(port.Link{Name: "lo", MAC: "00:00:00:00:00:00", Up: true, MTU: 65536}, port.Place{})
	return k
}

// Add plugs a link in and returns its index.
func (k *Kernel) Add(l port.Link, p port.Place) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.next++
	l.Index = k.next
	k.links[l.Index], k.places[l.Index] = &l, p
	k.sysctl["ipv4/conf/"+l.Name+"/forwarding"] = k.sysctl["ipv4/conf/all/forwarding"]
	k.sysctl["ipv6/conf/"+l.Name+"/forwarding"] = k.sysctl["ipv6/conf/all/forwarding"]
	k.sysctl["ipv4/conf/"+l.Name+"/accept_redirects"] = "1"
	k.event()
	return l.Index
}

// Remove unplugs a link.
func (k *Kernel) Remove(index int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.links[index]
	for _, s := range perLink {
		delete(k.sysctl, fmt.Sprintf(s, l.Name))
	}
	delete(k.links, index)
	k.addrs = slices.DeleteFunc(k.addrs, func(a port.Address) bool { return a.Index == index })
	k.flush(index)
	k.event()
}

// Change alters a link as its driver or the cable would.
func (k *Kernel) Change(index int, f func(*port.Link)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f(k.links[index])
	k.event()
}

// AddForeign adds a route that is not Weir's.
func (k *Kernel) AddForeign(r port.KernelRoute) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.foreign = append(k.foreign, r)
}

// AddAs adds an address as somebody else would, or the kernel itself.
func (k *Kernel) AddAs(a port.Address) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.addrs = append(k.addrs, a)
}

// ChangeAddress alters an address, as duplicate detection does.
func (k *Kernel) ChangeAddress(p netip.Prefix, f func(*port.Address)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.addrs {
		if k.addrs[i].Prefix == p {
			f(&k.addrs[i])
		}
	}
}

// Lose ends all subscriptions, as a netlink socket does that broke.
func (k *Kernel) Lose() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for ch := range k.subs {
		close(ch)
		delete(k.subs, ch)
	}
}

// Log returns the changing calls since the last Log.
func (k *Kernel) Log() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.log
	k.log = nil
	return l
}

// Link returns the link of a name.
func (k *Kernel) Link(name string) (port.Link, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range k.links {
		if l.Name == name {
			return *l, true
		}
	}
	return port.Link{}, false
}

// begin locks, notes a changing call and finds its failure and its link.
func (k *Kernel) begin(method string, index int, detail string) (*port.Link, error) {
	k.mu.Lock()
	l := k.links[index]
	name := ""
	if l != nil {
		name = l.Name
	}
	k.log = append(k.log, strings.TrimSpace(fmt.Sprintf("%s %s %s", method, name, detail)))
	if err := k.fail(method, name); err != nil {
		return l, err
	}
	if l == nil {
		return nil, unix.ENODEV
	}
	return l, nil
}

func (k *Kernel) fail(method, name string) error {
	if err := k.Fail[method+" "+name]; err != nil {
		return err
	}
	return k.Fail[method]
}

func (k *Kernel) event() {
	for ch := range k.subs {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// flush removes the routes by a link, as when it goes down.
func (k *Kernel) flush(index int) {
	by := func(r port.KernelRoute) bool { return r.Index == index }
	k.routes = slices.DeleteFunc(k.routes, by)
	k.foreign = slices.DeleteFunc(k.foreign, by)
}

// Links implements port.Kernel.
func (k *Kernel) Links() ([]port.Link, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []port.Link
	for _, i := range slices.Sorted(maps.Keys(k.links)) {
		all = append(all, *k.links[i])
	}
	return all, k.fail("Links", "")
}

// Rename implements port.Kernel.
func (k *Kernel) Rename(index int, name string) error {
	l, err := k.begin("Rename", index, name)
	defer k.mu.Unlock()
	if err != nil {
		return err
	}
	if l.Up && k.RenameNeedsDown {
		return unix.EBUSY
	}
	for _, o := range k.links {
		if o.Name == name || k.AltNames[name] {
			return unix.EEXIST
		}
	}
	for _, s := range perLink { // they move along
		was := fmt.Sprintf(s, l.Name)
		k.sysctl[fmt.Sprintf(s, name)] = k.sysctl[was]
		delete(k.sysctl, was)
	}
	l.Name = name
	k.event()
	return nil
}

// SetMTU implements port.Kernel.
func (k *Kernel) SetMTU(index, mtu int) error {
	l, err := k.begin("SetMTU", index, fmt.Sprint(mtu))
	defer k.mu.Unlock()
	if err != nil {
		return err
	}
	if l.MaxMTU > 0 && mtu > l.MaxMTU {
		return unix.EINVAL
	}
	l.MTU = mtu
	k.event()
	return nil
}

// SetUp implements port.Kernel. A link that goes down loses its IPv6 addresses
// (addrconf_ifdown) and all routes; one that comes up gets its link-local one.
func (k *Kernel) SetUp(index int, up bool) error {
	l, err := k.begin("SetUp", index, fmt.Sprint(up))
	defer k.mu.Unlock()
	if err != nil {
		return err
	}
	if l.Up == up {
		return nil
	}
	l.Up = up
	if up {
		k.addrs = append(k.addrs, port.Address{Index: index, Permanent: true,
			Prefix: netip.MustParsePrefix(fmt.Sprintf("fe80::5054:ff:fe00:%x/64", index))})
	} else {
		k.addrs = slices.DeleteFunc(k.addrs, func(a port.Address) bool { return a.Index == index && a.Prefix.Addr().Is6() })
		k.flush(index)
	}
	k.event()
	return nil
}

// Sysctl implements port.Kernel.
func (k *Kernel) Sysctl(name string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.sysctl[name]
	if !ok || k.NoIPv6 && strings.HasPrefix(name, "ipv6/") {
		return "", fs.ErrNotExist
	}
	return v, nil
}

// SetSysctl implements port.Kernel. The forwarding switch of "all" sets that of
// every link (inet_forward_change, addrconf_fixup_forwarding).
func (k *Kernel) SetSysctl(name, value string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.log = append(k.log, "SetSysctl "+name+" "+value)
	if err := k.fail("SetSysctl", name); err != nil {
		return err
	}
	k.sysctl[name] = value
	if family, ok := strings.CutSuffix(name, "/conf/all/forwarding"); ok {
		for n := range k.sysctl {
			if strings.HasPrefix(n, family+"/conf/") && strings.HasSuffix(n, "/forwarding") {
				k.sysctl[n] = value
			}
		}
	}
	return nil
}

// Place implements port.Kernel.
func (k *Kernel) Place(name string) port.Place {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, l := range k.links {
		if l.Name == name {
			return k.places[i]
		}
	}
	return port.Place{}
}

// Subscribe implements port.Kernel.
func (k *Kernel) Subscribe(ctx context.Context) (<-chan struct{}, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.fail("Subscribe", ""); err != nil {
		return nil, err
	}
	ch := make(chan struct{}, 1)
	k.subs[ch] = true
	context.AfterFunc(ctx, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.subs[ch] {
			close(ch)
			delete(k.subs, ch)
		}
	})
	return ch, nil
}
