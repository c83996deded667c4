// Weir is the operator's command: it looks at a device and tells it what to do.
// The same program runs on the device and on a workstation, where what needs no
// device (checking a configuration) gives the same verdict.
//
// It holds no logic of its own beyond words and tables: reading a
// configuration is init/config's, applying it init/netup's, ending the machine
// init/control's. Commands are in table.go's order of use; each is a function
// that takes its world as an env, so that tests give it another one.
package main
