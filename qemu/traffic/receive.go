package traffic

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// receiver reads frames into a checker on a goroutine of its own.
type receiver struct {
	c    *checker
	got  atomic.Int64 // frames of the load, for those who wait
	last atomic.Int64 // when the last came, in Unix nanoseconds
	stop atomic.Bool
	end  chan error
}

// startReceiver returns when the socket is open: what is sent from then on is
// seen.
func startReceiver(c *checker, at End) (*receiver, error) {
	r := &receiver{c: c, end: make(chan error, 1)}
	r.last.Store(time.Now().UnixNano())
	ready := make(chan struct{})
	go func() {
		r.end <- at.do(func() error {
			fd, err := packetSocket(at.Interface, true)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			s, err := sink()
			if err != nil {
				return err
			}
			defer unix.Close(s)
			close(ready)
			return r.read(fd)
		})
	}()
	select {
	case <-ready:
		return r, nil
	case err := <-r.end:
		return nil, err
	}
}

func (r *receiver) read(fd int) error {
	buf := make([]byte, 65536)
	for !r.stop.Load() {
		n, err := unix.Read(fd, buf)
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) || errors.Is(err, unix.ENETDOWN) {
			continue
		}
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		now := time.Now()
		r.c.add(buf[:n], now)
		if r.c.last.Equal(now) {
			r.got.Store(int64(r.c.r.Received))
			r.last.Store(now.UnixNano())
		}
	}
	stats, err := unix.GetsockoptTpacketStats(fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return fmt.Errorf("statistics of the packet socket: %w", err)
	}
	r.c.r.MissedByTester = int(stats.Drops)
	return nil
}

// finish stops the reader; the checker is the caller's again.
func (r *receiver) finish() error {
	r.stop.Store(true)
	return <-r.end
}
