// Package gobuild compiles what an image runs: Weir's own programs with the go
// command, and u-root's commands into one busybox with gobusybox, the library
// behind mkuimage.
//
// The bytes depend on the sources, go.sum, the Go version and the target, and on
// nothing else of the machine: Use fixes the environment, paths are trimmed, no
// build id, no version-control stamp, no cgo.
//
// It imports the standard library, gobusybox and images/arch. It changes the
// process's environment (gobusybox hands it down to the compiler), so one process
// uses one Toolchain. What goes where in an image is decided by images/build.
package gobuild
