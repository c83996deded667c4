// Forwarder is Weir's data-plane daemon. It watches what the kernel decides
// (netstack/mirror), and lets workers and the XDP program of every port repeat
// it (netstack/worker, drivers/xdp).
//
// This is the glue: it may import what it joins. main is a list of steps; one
// file each for the data plane's parts (plane.go), the maps (tables.go), the
// lease (lease.go), the ports' queues (queues.go), status and readiness. The
// control side runs on ordinary goroutines, one of which (plane.follow) owns the
// plane; only the workers' threads touch frames.
package main
