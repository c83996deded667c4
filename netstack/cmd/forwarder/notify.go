package main

import (
	"fmt"
	"net"
	"os"
)

// notify tells the supervisor that started us a state, by the protocol of
// sd_notify(3): a datagram to $NOTIFY_SOCKET. Without a supervisor it does
// nothing.
func notify(state string) error {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("tell the supervisor %q: %w", state, err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(state)); err != nil {
		return fmt.Errorf("tell the supervisor %q: %w", state, err)
	}
	return nil
}
