package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/safchain/ethtool"
)

// queues are the RX and TX queues that a port has in use.
type queues struct{ rx, tx int }

// readQueues asks the driver for its channels, and where it does not tell (mvpp2
// and mvneta do not) counts what the kernel lists under
// /sys/class/net/NAME/queues: the real queues, not the possible ones. sysfs
// shows the network namespace that it was mounted in.
func readQueues(e *ethtool.Ethtool, name string) (queues, error) {
	if c, err := e.GetChannels(name); err == nil {
		q := queues{rx: int(c.CombinedCount + c.RxCount), tx: int(c.CombinedCount + c.TxCount)}
		if q.rx > 0 && q.tx > 0 {
			return q, nil
		}
	}
	dir := filepath.Join("/sys/class/net", name, "queues")
	es, err := os.ReadDir(dir)
	if err != nil {
		return queues{}, fmt.Errorf("port %s: count its queues: %w", name, err)
	}
	var q queues
	for _, e := range es {
		switch {
		case strings.HasPrefix(e.Name(), "rx-"):
			q.rx++
		case strings.HasPrefix(e.Name(), "tx-"):
			q.tx++
		}
	}
	if q.rx == 0 || q.tx == 0 {
		return q, fmt.Errorf("port %s: %s lists %d RX and %d TX queues", name, dir, q.rx, q.tx)
	}
	return q, nil
}
