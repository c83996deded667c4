// Package guesttest tests a board's real image from outside: what its workers
// must forward, what the kernel behind them must still do, what keeps a port
// on the kernel's path, and what happens when the forwarder is killed.
//
// The tests are a list of named functions that run one after the other on one
// booted gateway; each leaves it as it found it. Results are printed as `go
// test -v` does. It is not a Go test itself, because it boots a guest and
// makes namespaces that `go test ./...` has no business with.
package guesttest
