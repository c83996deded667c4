package machine

import (
	"os"
	"time"
)

// Hardware is the machine QEMU imitates.
type Hardware struct {
	Arch     string // "arm64" or "arm"
	Machine  string // QEMU's -machine
	CPU      string // QEMU's -cpu
	SMP      int
	MemoryMB int
	Append   string   // kernel command line
	Args     []string // further arguments of QEMU
}

// Config is one guest.
type Config struct {
	Hardware
	Kernel string // path of the kernel image
	// Initrd is the path of the initramfs, or empty. Parts are appended to it.
	Initrd string
	Parts  []Part
	// Append is added to the hardware's kernel command line.
	Append []string
	// NICs are the guest's Ethernet ports, in PCI order.
	NICs []NIC
	// Interactive puts the serial console on this process's terminal, with
	// QEMU's monitor behind Ctrl-A. Console then sees nothing.
	Interactive bool
	// Reboot lets the guest restart; otherwise a restart ends the machine.
	Reboot bool
	// Silence is how long the guest may say nothing on its console while someone
	// waits for it; 0 means 60 s, which emulation on a busy machine needs.
	Silence time.Duration
	// Log receives a copy of the console, if set.
	Log *os.File
}

// NIC is one virtio network device.
type NIC struct {
	MAC string
	// Taps are the queues of a multi-queue tap, one descriptor each, with
	// IFF_VNET_HDR. The Machine takes copies.
	Taps []*os.File
	// Datagram is one end of a pair of unix datagram sockets that carries one
	// frame a datagram: the way without a tap, and with one queue. Set either.
	Datagram *os.File
}

// Queues is the number of queue pairs the guest sees.
func (n NIC) Queues() int { return max(1, len(n.Taps)) }

// Part is a further initramfs, unpacked over the first.
type Part struct {
	Files []File
	// Compress packs it with gzip at its fastest level.
	Compress bool
}

// File is one file of a Part: Content, or else the file at Source.
type File struct {
	Path    string // in the guest, without the leading slash
	Content []byte
	Source  string
	Mode    uint64 // permission bits; 0 means 0644
}
