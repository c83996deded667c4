package frame

// PortID numbers the ports of one Snapshot densely from 0. It is Weir's own
// number, not the kernel's interface index.
type PortID uint16

const (
	// MaxPorts bounds the PortIDs of a Snapshot.
	MaxPorts = 64
	// NoPort is the PortID of a frame that has no (or not yet an) out port.
	NoPort PortID = 0xffff
)

// BatchSize is the number of frames a worker handles at a time. 64 is two of
// the kernel's AF_XDP transmit rounds (32 frames a sendto) and one NAPI budget,
// so that one wake-up's worth of frames is one batch.
const BatchSize = 64

// Frame is one Ethernet frame in a worker's buffer memory.
type Frame struct {
	// Data is the frame from the destination MAC to the last byte, without the
	// FCS. It aliases the worker's buffer memory and is valid until the frame is
	// sent or released. forward.Process may shorten it (Ethernet padding) and
	// rewrites it in place.
	Data []byte
	// Addr is the offset of Data[0] in the worker's buffer memory (its UMEM).
	Addr uint64
	// NextHop is the snapshot's next hop, set with VerdictForward.
	NextHop uint32
	// In is the port the frame arrived on, Out the one it is to leave by.
	In, Out PortID
	Verdict Verdict
	// Reason says why, for VerdictPunt and VerdictDrop.
	Reason Reason
}

// Batch is what a worker receives, decides and sends in one round.
type Batch struct {
	N int // frames in use: F[:N]
	F [BatchSize]Frame
}

// Verdict is what happens to a frame.
type Verdict uint8

const (
	// VerdictPunt gives the frame to the kernel, as if it had just arrived on its
	// port. It is the zero value: if in doubt, the kernel decides.
	VerdictPunt Verdict = iota
	// VerdictForward sends the rewritten frame out of Frame.Out.
	VerdictForward
	// VerdictDrop recycles the frame and counts its Reason.
	VerdictDrop
)
