// Package faults shows in a guest that nothing brings the machine down: a
// panic in a goroutine of each service and of init, what the Go runtime cannot
// catch, SIGKILL to every process, memory and processes used up. After each,
// the machine is up and forwards, or has rebooted in order with the reason on
// its console; the kernel never says "Attempted to kill init".
//
// The faults are a list (faults.go) that runs on one boot, in order, since the
// deaths of init's worker climb a ladder that ends in a reboot. The image is
// the user's, with an init of the tag weirtest laid over it, which does faults
// on request.
//
// It is no Go test itself, because it boots a guest and makes namespaces that
// `go test ./...` has no business with.
package faults
