package xdp

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"weir/netstack/frame"
)

// MaxQueues is the number of RX queues of a port that can have a socket.
const MaxQueues = 64

// Port is what a port's program knows of it.
type Port struct {
	Name         string
	IfIndex      int
	MAC          [6]byte
	Fast4, Fast6 bool
	// MaxLen is the longest frame in bytes that a worker's buffer holds; longer
	// ones are the kernel's.
	MaxLen int
}

// weirPort is struct weir_port (bpf/weir.h).
type weirPort struct {
	MAC          [6]byte
	Fast4, Fast6 uint8
	IfIndex      uint32
	MaxLen       uint32
	Generic      uint8
	Pad          [7]uint8
}

// Program is the steering program of one port.
type Program struct {
	name    string
	ifindex int
	prog    *ebpf.Program
	maps    map[string]*ebpf.Map // port, counters, sockets
	attachment
}

// Load loads a port's program, unattached.
func (t *Tables) Load(p Port) (*Program, error) {
	spec := t.spec.Copy()
	delete(spec.Programs, "weir_punt")
	shared := map[string]*ebpf.Map{}
	for name, m := range t.shared() {
		shared[name] = *m
	}
	coll, err := ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{MapReplacements: shared})
	if err != nil {
		return nil, fmt.Errorf("port %s: load the XDP program: %w", p.Name, explain(err))
	}
	defer coll.Close()
	g := &Program{name: p.Name, ifindex: p.IfIndex, maps: map[string]*ebpf.Map{}}
	g.prog = coll.DetachProgram("weir_steer")
	for _, n := range []string{"port", "counters", "sockets"} {
		g.maps[n] = coll.DetachMap(n)
	}
	if err := g.SetPort(p); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// SetPort changes what the program knows of its port.
func (g *Program) SetPort(p Port) error {
	v := weirPort{MAC: p.MAC, Fast4: flag(p.Fast4), Fast6: flag(p.Fast6), IfIndex: uint32(p.IfIndex),
		MaxLen: uint32(p.MaxLen), Generic: flag(g.mode == Generic)}
	if err := g.maps["port"].Put(uint32(0), v); err != nil {
		return fmt.Errorf("port %s: write its XDP settings: %w", g.name, err)
	}
	g.name = p.Name
	return nil
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// SetSocket gives the frames of an RX queue to the AF_XDP socket fd. The kernel
// takes the entry out by itself when the socket is closed.
func (g *Program) SetSocket(queue, fd int) error {
	if queue >= MaxQueues {
		return fmt.Errorf("port %s: RX queue %d: at most %d can have a socket: lower the port's channels with ethtool -L", g.name, queue, MaxQueues)
	}
	if err := g.maps["sockets"].Put(uint32(queue), uint32(fd)); err != nil {
		return fmt.Errorf("port %s: give RX queue %d its socket: %w", g.name, queue, err)
	}
	return nil
}

// Counters are frames by reason: [0] those given to a worker, the others those
// passed to the kernel.
func (g *Program) Counters() ([frame.NumReasons]uint64, error) {
	var out [frame.NumReasons]uint64
	for i := range out {
		var per []uint64
		if err := g.maps["counters"].Lookup(uint32(i), &per); err != nil {
			return out, fmt.Errorf("port %s: read XDP counter %s: %w", g.name, frame.Reason(i), err)
		}
		for _, v := range per {
			out[i] += v
		}
	}
	return out, nil
}

// Info tells the program's id and the size of its native code in bytes; 0 is
// an interpreted program.
func (g *Program) Info() (id uint32, jited uint32, err error) {
	i, err := g.prog.Info()
	if err != nil {
		return 0, 0, fmt.Errorf("port %s: XDP program info: %w", g.name, err)
	}
	n, ok := i.ID()
	if !ok {
		return 0, 0, fmt.Errorf("port %s: the kernel tells no program id: Linux 4.13 or newer is needed", g.name)
	}
	jited, err = i.JitedSize()
	return uint32(n), jited, err
}

// Close lets go of the program. An attached one stays attached (pinned); see
// Detach.
func (g *Program) Close() error {
	errs := []error{g.closeLink(), g.prog.Close()}
	for _, m := range g.maps {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}

// explain adds the remedy to an error of the bpf system call.
func explain(err error) error {
	switch {
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("%w: run as root (CAP_NET_ADMIN and CAP_BPF), outside user namespaces", err)
	case errors.Is(err, unix.ENOMEM):
		return fmt.Errorf("%w: not enough memory for the maps", err)
	}
	return err
}
