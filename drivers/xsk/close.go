package xsk

import (
	"errors"
	"fmt"

	"weir/drivers/ring"
)

// Close ends the socket; the worker must have stopped, or have no more use for
// it. The kernel takes it out of its XSKMAPs by itself. Frames that are being
// sent may still leave. Frames that the kernel holds are not given back: they
// are lost to the UMEM until that is closed too (umem.Detach says why), so after
// a change of ports build the worker anew. What is in the worker's hands is
// still released as before; the other methods do nothing on a closed socket. A
// second Close does nothing.
func (s *Socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fd < 0 {
		return nil
	}
	s.reap()
	s.u.Detach(s)
	s.rxHeld, s.txHeld = 0, 0
	if err := s.releaseKernel(); err != nil {
		return fmt.Errorf("af_xdp socket on %s queue %d: close: %w", s.name, s.queue, err)
	}
	return nil
}

// releaseKernel unmaps the rings and then closes the descriptor: a mapped ring
// keeps the socket alive.
func (s *Socket) releaseKernel() error {
	s.rx, s.tx = ring.Consumer[ring.Desc]{}, ring.Producer[ring.Desc]{}
	s.fill, s.comp = ring.Producer[uint64]{}, ring.Consumer[uint64]{}
	var errs []error
	for _, m := range s.maps {
		errs = append(errs, s.k.munmap(m))
	}
	s.maps = nil
	if s.fd >= 0 {
		errs = append(errs, s.k.close(s.fd))
		s.fd = -1
	}
	return errors.Join(errs...)
}
