// Package porttest is a fake kernel for drivers/port: links, addresses, routes
// and sysctls in memory, with the habits of the real one that bring-up code
// trips over (each named where it is coded), and failures on demand.
//
// A Kernel may be used from several goroutines. Only tests import it.
package porttest
