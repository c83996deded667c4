// Package gotest runs the project's unit tests inside a guest: it cross-builds
// the test binary of every package, boots a board's image with them, runs each
// as root in a folder that holds its testdata, and compares what ran with what
// `go test -list` names on this machine.
//
// A test that does not run in a guest is on the list in exclude.txt, with its
// reason, or the run fails. So does a skip where CI=true, and a guest that ends
// before the last package has answered. It judges tests by their names and
// verdicts alone; nothing about any one package may be added here.
package gotest
