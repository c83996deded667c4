package xdp

import (
	"fmt"
	"runtime"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// Punter hands frames to the kernel as if they had just arrived on their port:
// BPF_PROG_TEST_RUN in live-frames mode with XDP_PASS (Linux 5.18). One call is
// one frame and some 70 µs: a way for what is rare. Safe for concurrent use, if
// each goroutine has its own Call.
type Punter struct{ prog *ebpf.Program }

// NewPunter loads the program.
func (t *Tables) NewPunter() (*Punter, error) {
	spec := t.spec.Copy()
	delete(spec.Programs, "weir_steer")
	coll, err := ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{MapReplacements: map[string]*ebpf.Map{"punting": t.punting}})
	if err != nil {
		return nil, fmt.Errorf("load the punt program: %w", explain(err))
	}
	defer coll.Close()
	return &Punter{prog: coll.DetachProgram("weir_punt")}, nil
}

// Close frees the program.
func (p *Punter) Close() error { return p.prog.Close() }

// Call is the argument block of punts of one thread, made once so that a punt
// allocates nothing.
type Call struct {
	fd   int
	attr testRunAttr
	ctx  xdpMD
	pin  runtime.Pinner
}

// NewCall makes an argument block.
func (p *Punter) NewCall() *Call {
	c := &Call{fd: p.prog.FD()}
	c.pin.Pin(c)
	return c
}

// Punt hands over one frame of 14 bytes to a page less headroom, from the port
// and RX queue it came in on.
func (c *Call) Punt(ifindex, queue int, data []byte) error {
	if len(data) < 14 {
		return unix.EINVAL
	}
	if e := c.run(ifindex, queue, data); e != 0 {
		return e
	}
	return nil
}
