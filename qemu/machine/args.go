package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ConsolePort is the name under which the guest finds the channel that
// Machine.Agent is the host's end of: /sys/class/virtio-ports/*/name.
const ConsolePort = "weir.lab"

// fds hands out the numbers under which QEMU inherits descriptors.
type fds []*os.File

func (f *fds) add(x *os.File) string {
	*f = append(*f, x)
	return strconv.Itoa(2 + len(*f)) // os/exec: ExtraFiles[i] becomes 3+i
}

// args is QEMU's command line. The console, hvc0 and the agent's channel are
// stream sockets that QEMU inherits: no path to choose, nothing to clean up.
func (c *Config) args(initrd string, f *fds, console, hvc, agent *os.File) []string {
	a := []string{
		"-nodefaults", "-no-user-config", "-display", "none",
		"-machine", c.Machine, "-cpu", c.CPU,
		"-smp", strconv.Itoa(max(1, c.SMP)), "-m", strconv.Itoa(c.MemoryMB) + "M",
		"-kernel", c.Kernel, "-initrd", initrd,
		"-append", strings.Join(append([]string{c.Hardware.Append}, c.Append...), " "),
		"-device", "virtio-rng-pci",
		"-device", "virtio-serial-pci",
	}
	if c.Interactive {
		a = append(a, "-chardev", "stdio,id=con,mux=on,signal=off", "-mon", "chardev=con")
	} else {
		a = append(a, "-chardev", "socket,id=con,fd="+f.add(console))
	}
	a = append(a, "-serial", "chardev:con",
		"-chardev", "socket,id=hvc,fd="+f.add(hvc), "-device", "virtconsole,chardev=hvc",
		"-chardev", "socket,id=agent,fd="+f.add(agent), "-device", "virtserialport,chardev=agent,name="+ConsolePort,
	)
	if !c.Reboot {
		a = append(a, "-no-reboot")
	}
	for i, n := range c.NICs {
		id := fmt.Sprintf("net%d", i)
		dev := "virtio-net-pci,netdev=" + id + ",mac=" + n.MAC
		switch {
		case n.Datagram != nil:
			a = append(a, "-netdev", "dgram,id="+id+",local.type=fd,local.str="+f.add(n.Datagram))
		default:
			var q []string
			for _, t := range n.Taps {
				q = append(q, f.add(t))
			}
			a = append(a, "-netdev", "tap,id="+id+",vhost=off,fds="+strings.Join(q, ":"))
			if len(q) > 1 {
				// No rss=on: the tap already spreads flows over the queues, by a symmetric
				// hash and by the queue the guest last sent the flow on. QEMU's own RSS
				// (7.2) moves a frame to another queue and, when that one has no buffer
				// yet, waits for the wrong queue to be refilled: a port that got a frame
				// before its driver was ready stays deaf.
				dev += fmt.Sprintf(",mq=on,vectors=%d", 2*len(q)+2)
			}
		}
		a = append(a, "-device", dev)
	}
	return append(a, c.Args...)
}
