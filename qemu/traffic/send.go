package traffic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// burst is the most frames sent without a look at the clock: a tap's queue
// holds 1000, the gateway's receive ring 256.
const burst = 16

// send paces the load out of from's interface and returns how many frames went.
func send(ctx context.Context, l Load, from, to End) (sent int, err error) {
	err = from.do(func() error {
		fd, err := packetSocket(from.Interface, false)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		buf := make([]byte, 65536)
		start := time.Now()
		for sent < l.Frames && ctx.Err() == nil {
			due := min(int(time.Since(start).Seconds()*float64(l.Rate))+1, l.Frames)
			for n := 0; sent < due && n < burst; n++ {
				size := l.build(buf, from, to, sent%l.Flows, sent/l.Flows)
				if err := write(fd, buf[:size]); err != nil {
					return fmt.Errorf("send frame %d on %s: %w", sent, from.Interface, err)
				}
				sent++
			}
			next := start.Add(time.Duration(sent) * time.Second / time.Duration(l.Rate))
			time.Sleep(min(time.Until(next), 10*time.Millisecond))
		}
		return nil
	})
	return sent, err
}

// write waits while the interface's queue is full: a tester that drops would
// blame the router.
func write(fd int, f []byte) error {
	for {
		_, err := unix.Write(fd, f)
		if !errors.Is(err, unix.ENOBUFS) && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}
