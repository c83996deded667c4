//go:build weirtest

package control

// Ask sends any verb: for faults, which only builds for tests know.
func Ask(verb string) error { return ask(Path, Request{Verb: verb}) }
