package main

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// lock keeps a second forwarder off the same ports: it would replace the
// programs of the first one and then find their queues taken. The lock is a name
// in the abstract Unix namespace, which belongs to the network namespace and is
// free again the moment its holder is dead, however it died.
func lock(bpffs string) (net.Listener, error) {
	l, err := net.Listen("unix", "@weir-forwarder:"+bpffs)
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fmt.Errorf("another forwarder runs with %s in this network namespace: stop it first, or name another folder with -bpffs", bpffs)
	}
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	return l, nil
}
