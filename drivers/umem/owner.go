package umem

// Owner is who has a frame, as far as user space can know.
type Owner uint8

const (
	OwnerFree   Owner = iota // in the free list
	OwnerWorker              // in the worker's hands: a batch, or on its way to a ring
	OwnerRX                  // with the kernel to receive into: fill ring, driver, RX ring
	OwnerTX                  // with the kernel to send: TX ring, driver, completion ring
)

var ownerNames = [...]string{"free", "worker", "rx", "tx"}

func (o Owner) String() string { return ownerNames[o&3] }

// Move records that the frame at addr passes from one owner to another. It is
// nothing unless the build has the tag weirdebug; then it panics if addr is of
// no frame or from is not the owner. Drivers call it when they hand frames to
// the kernel and take them back; Get and Put record their own moves.
func (u *UMEM) Move(addr uint64, from, to Owner) { u.track.move(u, addr, from, to) }
