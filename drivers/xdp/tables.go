package xdp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"weir/netstack/frame"
)

// MaxNextHops bounds next hop ids: the size of the map next_hops.
const MaxNextHops = 1 << 16

// NextHop is what the steering program knows of a next hop.
type NextHop struct {
	// Reason is why the kernel has to handle it; frame.ReasonNone forwards.
	Reason  frame.Reason
	IfIndex int    // the out port
	MTU     uint32 // the largest layer-3 packet in bytes
}

// Route sets Prefix to the next hop ID, or deletes it.
type Route struct {
	Prefix netip.Prefix
	ID     uint32
	Delete bool
}

// Tables are the maps that the programs of all ports share.
type Tables struct {
	spec                    *ebpf.CollectionSpec
	control, lease          *ebpf.Map
	routes4, routes6        *ebpf.Map
	nextHops, own4, punting *ebpf.Map
	ownNow                  map[netip.Addr]bool
}

// NewTables makes empty tables without a lease: programs that use them pass
// everything to the kernel until Renew.
func NewTables() (*Tables, error) {
	spec, err := loadWeir()
	if err != nil {
		return nil, fmt.Errorf("read the built-in XDP object: %w", err)
	}
	t := &Tables{spec: spec, ownNow: map[netip.Addr]bool{}}
	for name, m := range t.shared() {
		if *m, err = ebpf.NewMap(spec.Maps[name]); err != nil {
			t.Close()
			return nil, fmt.Errorf("make BPF map %s: %w", name, explain(err))
		}
	}
	return t, nil
}

func (t *Tables) shared() map[string]**ebpf.Map {
	return map[string]**ebpf.Map{
		"control": &t.control, "lease": &t.lease, "routes4": &t.routes4, "routes6": &t.routes6,
		"next_hops": &t.nextHops, "own4": &t.own4, "punting": &t.punting,
	}
}

// Close frees the maps; a program that is still attached keeps what it uses.
func (t *Tables) Close() error {
	var errs []error
	for _, m := range t.shared() {
		errs = append(errs, (*m).Close())
	}
	return errors.Join(errs...)
}

// SetNextHop writes one next hop. Write next hops before the routes that use
// them.
func (t *Tables) SetNextHop(id uint32, n NextHop) error {
	v := weirNextHop{Reason: uint32(n.Reason), Ifindex: uint32(n.IfIndex), Mtu: n.MTU}
	if err := t.nextHops.Put(id, v); err != nil {
		return fmt.Errorf("write next hop %d: %w", id, err)
	}
	return nil
}

// weirNextHop is struct weir_next_hop (bpf/weir.h).
type weirNextHop struct{ Reason, Ifindex, Mtu, Pad uint32 }

// SetRoutes applies the changes in order. The kernel takes them in batches; a
// failed batch is repeated one by one, so that the error names the prefix.
func (t *Tables) SetRoutes(routes []Route) error {
	for len(routes) > 0 {
		n := 1
		for n < len(routes) && n < 4096 && routes[n].Delete == routes[0].Delete &&
			routes[n].Prefix.Addr().Is6() == routes[0].Prefix.Addr().Is6() {
			n++
		}
		if err := t.setRun(routes[:n]); err != nil {
			return err
		}
		routes = routes[n:]
	}
	return nil
}

// setRun applies changes of one family and kind.
func (t *Tables) setRun(run []Route) error {
	m, size := t.routes4, 8
	if run[0].Prefix.Addr().Is6() {
		m, size = t.routes6, 20
	}
	keys, ids := make([]byte, 0, size*len(run)), make([]uint32, len(run))
	for i, r := range run {
		keys = binary.NativeEndian.AppendUint32(keys, uint32(r.Prefix.Bits()))
		keys = append(keys, r.Prefix.Addr().AsSlice()...)
		ids[i] = r.ID
	}
	if len(run) > 8 && !run[0].Delete {
		if _, err := m.BatchUpdate(batchKeys(keys, size), ids, nil); err == nil {
			return nil
		}
	}
	for i, r := range run {
		k := keys[i*size : (i+1)*size]
		var err error
		if r.Delete {
			if err = m.Delete(k); errors.Is(err, ebpf.ErrKeyNotExist) {
				err = nil
			}
		} else {
			err = m.Put(k, ids[i])
		}
		if err != nil {
			return fmt.Errorf("write route %s: %w", r.Prefix, err)
		}
	}
	return nil
}

// batchKeys gives the keys the shape that the batch call takes.
func batchKeys(b []byte, size int) any {
	if size == 8 {
		k := make([][8]byte, len(b)/8)
		for i := range k {
			copy(k[i][:], b[i*8:])
		}
		return k
	}
	k := make([][20]byte, len(b)/20)
	for i := range k {
		copy(k[i][:], b[i*20:])
	}
	return k
}

// SetOwn replaces the set of the router's own IPv4 addresses: frames from them
// are the kernel's to judge. Addresses of other families are left out: the
// kernel asks no such question of IPv6.
func (t *Tables) SetOwn(addrs []netip.Addr) error {
	next := map[netip.Addr]bool{}
	var bits uint64
	for _, a := range addrs {
		if a.Is4() {
			next[a] = true
			bits |= ownBit(own4Key(a))
		}
	}
	if maps.Equal(next, t.ownNow) {
		return nil
	}
	// Grow the set before the bits that lead to it, shrink it after.
	for a := range next {
		if err := t.own4.Put(own4Key(a), byte(1)); err != nil {
			return fmt.Errorf("write own address %s: %w", a, err)
		}
	}
	if err := t.control.Put(uint32(0), bits); err != nil {
		return fmt.Errorf("write the own-address filter: %w", err)
	}
	for a := range t.ownNow {
		if !next[a] {
			if err := t.own4.Delete(own4Key(a)); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
				return fmt.Errorf("delete own address %s: %w", a, err)
			}
		}
	}
	t.ownNow = next
	return nil
}

// own4Key is an address as the program reads it: four bytes in network order.
func own4Key(a netip.Addr) uint32 {
	b := a.As4()
	return binary.NativeEndian.Uint32(b[:])
}

// ownBit is own_bit of bpf/weir.c.
func ownBit(w uint32) uint64 { return 1 << ((w * 0x9e3779b1) >> 26) }

// Renew lets the programs steer for d from now on; d ≤ 0 ends it at once.
func (t *Tables) Renew(d time.Duration) error {
	var until uint64
	if d > 0 {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			return fmt.Errorf("read the monotonic clock: %w", err)
		}
		until = uint64(ts.Nano() + int64(d))
	}
	if err := t.lease.Put(uint32(0), until); err != nil {
		return fmt.Errorf("write the lease: %w", err)
	}
	return nil
}
