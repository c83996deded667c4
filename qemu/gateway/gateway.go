package gateway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	"weir/images/progress"
	"weir/qemu/agent"
	"weir/qemu/lab"
	"weir/qemu/machine"
)

// agentPath is where the agent is in the guest.
const agentPath = "/lab/weir-agent"

// bootLimit is far above what a boot takes (4 to 20 s under emulation).
const bootLimit = 3 * time.Minute

// Options shape a gateway. The zero value is the board's machine.
type Options struct {
	Image *Image
	Lab   *lab.Lab // nil: a machine without ports
	// SMP and MemoryMB replace the board's, if not 0.
	SMP, MemoryMB int
	// Tiers names the tier of a port by label.
	Tiers map[string]string
	// Config replaces the lab's weir.toml.
	Config []byte
	// Files are laid over the image.
	Files []machine.File
	// Append is added to the kernel's command line.
	Append      []string
	Interactive bool
	Console     *os.File // gets a copy of the console
	Report      *progress.Reporter
}

// Gateway is a running one.
type Gateway struct {
	*machine.Machine
	Agent *agent.Client
	Lab   *lab.Lab
	// Up is how long the guest's kernel had run when PID 1 was done.
	Up time.Duration
}

// Hardware is what QEMU is to imitate.
func (o *Options) Hardware() machine.Hardware {
	q := o.Image.Board.QEMU
	h := machine.Hardware{Arch: o.Image.Board.Arch, Machine: q.Machine, CPU: q.CPU, SMP: q.SMP, MemoryMB: q.MemoryMB, Append: q.Append, Args: q.Args}
	if o.SMP != 0 {
		h.SMP = o.SMP
	}
	if o.MemoryMB != 0 {
		h.MemoryMB = o.MemoryMB
	}
	return h
}

// Start boots the machine, without waiting for anything.
func Start(ctx context.Context, o Options) (*Gateway, error) {
	files := append([]machine.File{{Path: agentPath, Source: o.Image.Agent, Mode: 0o755}}, o.Files...)
	var nics []machine.NIC
	if o.Lab != nil {
		nics = o.Lab.NICs()
		if o.Config == nil {
			o.Config = o.Lab.GatewayConfig(o.Tiers)
		}
	}
	if o.Config != nil {
		files = append(files, machine.File{Path: "/etc/weir.toml", Content: o.Config})
	}
	m, err := machine.Start(ctx, machine.Config{
		Hardware: o.Hardware(), Kernel: o.Image.Kernel, Initrd: o.Image.Initrd,
		Parts: []machine.Part{{Files: files}}, NICs: nics,
		// A panic ends the machine, and us, at once.
		Append:      append([]string{"panic=-1", "weir.run=" + agentPath}, o.Append...),
		Interactive: o.Interactive, Log: o.Console,
	})
	if err != nil {
		return nil, err
	}
	return &Gateway{Machine: m, Agent: agent.NewClient(m.Agent), Lab: o.Lab}, nil
}

var up = regexp.MustCompile(`weir: up in ([0-9.]+) s`)

// WaitUp waits for PID 1 to say that it is done and for the agent to answer.
func (g *Gateway) WaitUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, bootLimit, fmt.Errorf("the guest was not up within %v", bootLimit))
	defer cancel()
	m, _, err := g.WaitLine(ctx, 0, up)
	if err != nil {
		return err
	}
	if s, err := strconv.ParseFloat(m[1], 64); err == nil {
		g.Up = time.Duration(s * float64(time.Second))
	}
	if err := g.Agent.Ready(ctx); err != nil {
		return fmt.Errorf("%w; the guest's console ended with:%s", err, g.Console.Tail())
	}
	return nil
}

// Tool runs a tool of the lab's agent in the guest.
func (g *Gateway) Tool(ctx context.Context, args ...string) error {
	_, err := g.Agent.Run(ctx, append([]string{agentPath}, args...)...)
	return err
}

// PowerOff asks the guest to end in order, and kills it if it does not.
func (g *Gateway) PowerOff(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the guest did not switch itself off within a minute"))
	defer cancel()
	// The agent may be stopped before it can answer, so its word does not count;
	// that the machine ends does.
	_, asked := g.Agent.Run(ctx, "/bin/weir", "poweroff")
	if err := g.Wait(ctx); err != nil {
		return errors.Join(fmt.Errorf("%w; its console ended with:%s", err, g.Console.Tail()), asked, g.Close())
	}
	return g.Close()
}
