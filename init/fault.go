//go:build !weirtest

package main

import "fmt"

// Faults on request exist only in builds with the tag weirtest, for guests in
// which to show that nothing brings the machine down.

func (b *boot) injectFault(verb string) error { return fmt.Errorf("unknown verb %q", verb) }

func faultCommand([]string) (status int, ok bool) { return 0, false }
