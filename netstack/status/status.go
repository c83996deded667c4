package status

// DefaultSocket is where the forwarder listens on the device.
const DefaultSocket = "/run/weir/forwarder.sock"

// Status is the whole document. All counters count from the forwarder's start
// unless said otherwise; none is ever reset.
type Status struct {
	Version    string   `json:"version"`
	PID        int      `json:"pid"`
	UptimeSec  float64  `json:"uptime_seconds"`
	Generation uint64   `json:"generation"` // of the snapshot in force
	Ports      []Port   `json:"ports"`
	Workers    []Worker `json:"workers"`
	// Tiers counts frames by the tier that handled them: "xdp", "worker", and
	// "kernel" for what the steering program passed and the workers punted.
	Tiers map[string]uint64 `json:"tiers"`
	Table Table             `json:"table"`
	// XDP describes the loaded steering program.
	XDP XDP `json:"xdp"`
}

// Port is one port under the forwarder.
type Port struct {
	Name    string `json:"name"`
	IfIndex int    `json:"ifindex"`
	MAC     string `json:"mac"`
	MTU     int    `json:"mtu"`
	Driver  string `json:"driver"`
	// Tier is the best tier in force: "afxdp" or "kernel"; TierWhy says why.
	Tier    string `json:"tier"`
	TierWhy string `json:"tier_why"`
	// Mode is how the XDP program is attached: "native", "generic" or "".
	Mode     string            `json:"mode"`
	RXQueues int               `json:"rx_queues"`
	TXQueues int               `json:"tx_queues"`
	Fast4    bool              `json:"fast4"`
	Fast6    bool              `json:"fast6"`
	Slow     []string          `json:"slow"`      // what keeps a family on the kernel path, in words
	ToWorker uint64            `json:"to_worker"` // frames the steering program gave to a worker
	Punts    map[string]uint64 `json:"punts"`     // frames it passed to the kernel, by reason
	Sockets  []Socket          `json:"sockets"`
}

// Socket is one AF_XDP socket: one queue of one port.
type Socket struct {
	Queue      int    `json:"queue"`
	Worker     int    `json:"worker"`
	RX         uint64 `json:"rx"`
	TX         uint64 `json:"tx"`
	Kicks      uint64 `json:"kicks"`
	KickErrors uint64 `json:"kick_errors"`
	// The kernel's own XDP_STATISTICS.
	RXDropped  uint64 `json:"rx_dropped"`
	RXRingFull uint64 `json:"rx_ring_full"`
	FillEmpty  uint64 `json:"rx_fill_ring_empty_descs"`
	TXInvalid  uint64 `json:"tx_invalid_descs"`
}

// Worker is one packet thread.
type Worker struct {
	ID         int               `json:"id"`
	CPU        int               `json:"cpu"`
	RX         uint64            `json:"rx"`
	Forwarded  uint64            `json:"forwarded"`
	Punts      map[string]uint64 `json:"punts"`
	Drops      map[string]uint64 `json:"drops"`
	Batches    uint64            `json:"batches"`
	Polls      uint64            `json:"polls"`
	HandedOver uint64            `json:"handed_over"` // frames given to the worker that owns the TX queue
	Frames     int               `json:"frames"`      // of the worker's buffer memory
}

// Table is the size of the forwarding state.
type Table struct {
	Routes4     int    `json:"routes4"`
	Routes6     int    `json:"routes6"`
	NextHops    int    `json:"next_hops"`
	Resyncs     uint64 `json:"resyncs"`      // full dumps after lost events
	ApplyMicros uint64 `json:"apply_micros"` // from the last kernel event to the maps written
}

// XDP is the steering program as loaded.
type XDP struct {
	ID        uint32 `json:"id"`
	JitedSize uint32 `json:"jited_size"` // 0: interpreted
	Lease     bool   `json:"lease"`      // the lease is in force
	TookOver  bool   `json:"took_over"`  // the link of an earlier forwarder was taken over
}
