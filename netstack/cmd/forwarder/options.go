package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"weir/netstack/status"
)

// Tier is what a port was asked to be carried by.
type Tier string

const (
	tierAuto   Tier = "auto"   // AF_XDP over native XDP if the driver has it, else the kernel
	tierAFXDP  Tier = "afxdp"  // AF_XDP, over generic XDP if need be
	tierKernel Tier = "kernel" // the kernel alone
	// Known to the configuration and not in this build: such a port is the
	// kernel's, rather than the whole gateway down.
	tierXDP      Tier = "xdp"
	tierAFPacket Tier = "afpacket"
)

// refusal says why a port of this tier is the kernel's, if it is.
func (t Tier) refusal() string {
	switch t {
	case tierKernel:
		return "tier = kernel in the configuration"
	case tierXDP, tierAFPacket:
		return fmt.Sprintf("tier = %s is not in this build: use auto or afxdp", t)
	}
	return ""
}

// portFlag is one -port LABEL[=TIER].
type portFlag struct {
	name string
	tier Tier
}

// options are the command line.
type options struct {
	ports   []portFlag
	socket  string
	bpffs   string
	workers int
	cpus    bool
	frames  int
}

// parseOptions reads the command line. Errors have been printed to out.
func parseOptions(args []string, out io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("forwarder", flag.ContinueOnError)
	f.SetOutput(out)
	f.Usage = func() {
		fmt.Fprint(out, "usage: forwarder -port NAME[=TIER] [-port NAME[=TIER]…]\n\n"+
			"Forwards between the ports what the kernel would forward, and leaves the rest to\n"+
			"it. TIER: auto (default), afxdp (AF_XDP even without native XDP), kernel.\n"+
			"Ends on SIGTERM in order, taking its XDP programs off the ports.\n\n")
		f.PrintDefaults()
	}
	f.Func("port", "a port `NAME[=TIER]`; may be repeated", func(s string) error {
		name, tier, ok := strings.Cut(s, "=")
		if !ok {
			tier = string(tierAuto)
		}
		switch Tier(tier) {
		case tierAuto, tierAFXDP, tierKernel, tierXDP, tierAFPacket:
		default:
			return fmt.Errorf("no such tier %q: use auto, afxdp or kernel", tier)
		}
		if name == "" || len(name) > 15 || name == "." || name == ".." || strings.ContainsAny(name, "/: \t\n") {
			return fmt.Errorf("%q is not an interface's name", name)
		}
		for _, p := range o.ports {
			if p.name == name {
				return fmt.Errorf("port %s is given twice", name)
			}
		}
		o.ports = append(o.ports, portFlag{name, Tier(tier)})
		return nil
	})
	f.StringVar(&o.socket, "socket", status.DefaultSocket, "Unix socket that tells the status as JSON")
	f.StringVar(&o.bpffs, "bpffs", "/sys/fs/bpf/weir", "folder on a bpffs that keeps the XDP links")
	f.IntVar(&o.workers, "workers", 0, "packet threads; 0: as many as CPUs, but no more than a port has RX queues")
	f.BoolVar(&o.cpus, "pin", true, "bind worker i to the i-th allowed CPU")
	f.IntVar(&o.frames, "frames", 4096, "frames of each worker's buffer memory, a power of two")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	bad := func(format string, a ...any) error {
		err := fmt.Errorf(format, a...)
		fmt.Fprintln(out, "forwarder:", err)
		return err
	}
	switch {
	case f.NArg() > 0:
		return nil, bad("unexpected argument %q: ports are given with -port", f.Arg(0))
	case len(o.ports) == 0:
		return nil, bad("no ports: give at least one -port NAME")
	case len(o.ports) > 64:
		return nil, bad("%d ports: at most 64", len(o.ports))
	case o.workers < 0 || o.workers > 64:
		return nil, bad("-workers %d: 0 to 64", o.workers)
	case o.frames < 256 || o.frames > 1<<16 || o.frames&(o.frames-1) != 0:
		return nil, bad("-frames %d: a power of two from 256 to 65536", o.frames)
	}
	return o, nil
}
