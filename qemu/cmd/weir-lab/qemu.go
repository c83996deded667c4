package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"weir/qemu/gateway"
	"weir/qemu/lab"
)

var qemuCmd = command{
	name: "qemu", short: "boot the machine with its console on this terminal",
	flags: func(fs *flag.FlagSet) func(context.Context, *app) error {
		smp := fs.Int("smp", 0, "number of CPUs (0: the board's)")
		mem := fs.Int("memory", 0, "memory in MB (0: the board's)")
		return func(ctx context.Context, a *app) error {
			o := gateway.Options{Image: a.image, SMP: *smp, MemoryMB: *mem, Interactive: true, Report: a.report}
			l, err := lab.New(lab.Config{Queues: o.Hardware().SMP, NoTap: a.noTap})
			if err != nil {
				return err
			}
			defer l.Close()
			o.Lab = l
			h := o.Hardware()
			fmt.Fprintf(os.Stderr, "\n%s: %s, %s, %d CPUs, %d MB\n%s\n", a.image.Board.Name, h.Machine, h.CPU, h.SMP, h.MemoryMB, howTo(l))
			fmt.Fprint(os.Stderr, "\nThe console of the gateway follows; Return shows its prompt.\n"+
				"  on it     weir status, ip route, ping; weir poweroff ends in order\n"+
				"  to leave  Ctrl-A X (Ctrl-A C is QEMU's monitor)\n\n")
			g, err := gateway.Start(ctx, o)
			if err != nil {
				return err
			}
			defer g.Close()
			return g.Wait(ctx)
		}
	},
}

// howTo tells how to reach the lab from another terminal.
func howTo(l *lab.Lab) string {
	var b strings.Builder
	c, s := l.Client, l.Server
	fmt.Fprintf(&b, "  client  %v %v in the network namespace %s\n", c.Addr[0].Addr(), c.Addr[1].Addr(), c.Namespace)
	fmt.Fprintf(&b, "  gateway %v %v (lan), %v %v (wan)\n", c.Gateway[0], c.Gateway[1], s.Gateway[0], s.Gateway[1])
	fmt.Fprintf(&b, "  server  %v %v in the network namespace %s\n", s.Addr[0].Addr(), s.Addr[1].Addr(), s.Namespace)
	enter := ""
	if lab.Entered() {
		enter = fmt.Sprintf("nsenter -t %d -U --preserve-credentials -m ", os.Getpid())
	}
	fmt.Fprintf(&b, "  from another terminal:\n")
	fmt.Fprintf(&b, "    %sip netns exec %s ping %v\n", enter, c.Namespace, s.Addr[0].Addr())
	fmt.Fprintf(&b, "    %sip netns exec %s iperf3 -s\n", enter, s.Namespace)
	fmt.Fprintf(&b, "    %sip netns exec %s iperf3 -c %v", enter, c.Namespace, s.Addr[1].Addr())
	if lab.Entered() {
		// `ip netns exec` wants to mount sysfs, which a user namespace may refuse.
		fmt.Fprintf(&b, "\n    or: nsenter -t %d -U --preserve-credentials -m nsenter --net=/run/netns/%s ping %v", os.Getpid(), c.Namespace, s.Addr[0].Addr())
	}
	return b.String()
}
