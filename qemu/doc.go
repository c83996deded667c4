// Package qemu holds the lab: machines that boot real images, the networks
// around them, the traffic that crosses them, and the tests that do all of it.
//
// It contains tests only. The parts are machine (one QEMU process), lab (two
// hosts with the gateway between them), traffic (a load that is checked frame
// by frame), agent (commands inside the guest) and gotest (the project's unit
// tests inside a guest). Nothing that runs on a device may import them.
package qemu
