// Package netup joins configuration and ports: it turns a config.Config into
// the port.Spec that drivers/port applies, and the outcome into what the boot
// report carries. PID 1 and `weir config apply` call the same function, so that
// both do the same.
//
// Calls may be concurrent, also from several processes: rounds take turns. Nothing that decides what is valid belongs
// here (init/config does), nor how a port is brought up (drivers/port does).
package netup
