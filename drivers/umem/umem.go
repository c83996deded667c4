package umem

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"golang.org/x/sys/unix"
)

// Config describes the memory of one worker.
type Config struct {
	// Frames is how many. See xsk.Frames for how many a set of sockets needs so
	// that none of them can starve another.
	Frames int
	// Size of a frame in bytes: a power of two from 2048 to the page size.
	Size int
	// Headroom is left free before each received packet beyond the kernel's 256
	// bytes. It makes Usable smaller; 0 is right unless a driver or a tunnel needs
	// more than 256.
	Headroom int
	// HugePages asks for huge pages, reserved ones first and transparent ones
	// otherwise; where there are none the memory is ordinary and Huge says so.
	// They spare the TLB and nothing else.
	HugePages bool
}

// UMEM is a worker's frames: their memory and the list of free ones.
type UMEM struct {
	// Data half: what the worker's loop touches.
	mem   []byte
	free  []uint32 // free[:n] are free frames by number; the last one put is the first one got, its bytes may still be cached
	n     int
	shift uint   // log2 of size
	mask  uint64 // of the bits inside a frame
	quota int
	track tracker
	// faults are addresses given to Put that were of no frame, or too many.
	faults uint64

	// Control half.
	frames, size, headroom, page int
	huge                         bool
	holders                      []Holder
	lost                         int // frames that closed sockets left with the kernel
}

// New maps frames frames of size bytes with no extra headroom, all free.
func New(frames, size int) (*UMEM, error) { return NewConfig(Config{Frames: frames, Size: size}) }

// NewConfig maps the memory that c describes, all frames free.
func NewConfig(c Config) (*UMEM, error) { return newUMEM(c, unix.Getpagesize(), mapMemory) }

// newUMEM is NewConfig with the page size and the mapping in the test's hands.
func newUMEM(c Config, page int, mapMemory func(n int, huge bool) ([]byte, bool, error)) (*UMEM, error) {
	if err := checkSize(c.Size, c.Headroom, page); err != nil {
		return nil, err
	}
	// A frame is numbered by an int32 and all of them are one slice.
	if most := min(math.MaxInt32, math.MaxInt/c.Size); c.Frames <= 0 || c.Frames > most {
		return nil, fmt.Errorf("umem: %d frames of %d bytes: has to be 1 to %d", c.Frames, c.Size, most)
	}
	// The kernel wants whole pages behind the mapping and whole frames in it.
	mem, huge, err := mapMemory(c.Frames*c.Size, c.HugePages)
	if err != nil {
		return nil, fmt.Errorf("umem: map %d frames of %d bytes: %w", c.Frames, c.Size, explainMap(err))
	}
	u := &UMEM{
		mem: mem, free: make([]uint32, c.Frames), n: c.Frames,
		shift: uint(bits.TrailingZeros(uint(c.Size))), mask: uint64(c.Size - 1), quota: c.Frames,
		frames: c.Frames, size: c.Size, headroom: c.Headroom, page: page, huge: huge,
	}
	for i := range u.free { // frame 0 is the first to be got
		u.free[i] = uint32(c.Frames - 1 - i)
	}
	u.track.init(c.Frames)
	return u, nil
}

func explainMap(err error) error {
	if errors.Is(err, unix.ENOMEM) {
		return fmt.Errorf("not enough memory (use fewer or smaller frames, or fewer workers): %w", err)
	}
	return err
}

// Frames is how many frames there are.
func (u *UMEM) Frames() int { return u.frames }

// Size of a frame in bytes.
func (u *UMEM) Size() int { return u.size }

// Headroom is what is left free beyond PacketHeadroom before received packets.
func (u *UMEM) Headroom() int { return u.headroom }

// Huge reports whether reserved huge pages are behind the memory.
func (u *UMEM) Huge() bool { return u.huge }

// Mem is all of the memory; an address is an index into it. It is valid until
// Close.
func (u *UMEM) Mem() []byte { return u.mem }

// Base is the frame that addr lies in.
func (u *UMEM) Base(addr uint64) uint64 { return addr &^ u.mask }

// Close unmaps the memory. The sockets have to be closed first: a socket of
// this UMEM that is still open refuses it. A second Close does nothing.
func (u *UMEM) Close() error {
	if n := len(u.holders); n > 0 {
		return fmt.Errorf("umem: %d sockets still use the frames: close them first", n)
	}
	if u.mem == nil {
		return nil
	}
	mem := u.mem
	u.mem, u.n = nil, 0
	if err := unmapMemory(mem); err != nil {
		return fmt.Errorf("umem: unmap: %w", err)
	}
	return nil
}
