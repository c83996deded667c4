// Package cmdline reads the kernel's command line: the words for PID 1
// (`weir.run=PATH`, `weir.only`, `weir.off`) and the parameters of modules.
//
// Everything is pure and may be called concurrently. Only the standard library.
package cmdline
