// Init is process 1 of a Weir machine.
//
// The same program runs as three things, told apart by how it is started:
//
//   - process 1 proper (init/guard), which starts the worker, reaps orphans, and
//     restarts the worker or reboots in order when it dies;
//   - the worker, which does the work of an init: boot.go is the list of its
//     steps, each in a file of its own, and after them it supervises services;
//   - /sbin/modprobe, by which the kernel asks for modules itself.
//
// No step can stop the boot: each has a time limit, its panics are caught, and
// what fails is a message on the console, a line in the boot report
// (init/report) and a machine that goes on with the rest. The console and a
// shell come first.
//
// Nothing here or in what it imports may use crypto/rand, or otherwise wait for
// the kernel's random numbers, before the services run: a board without a
// hardware source may take minutes to have them. The Go runtime and its maps
// take their seed from AT_RANDOM, which never blocks.
//
// The package may import init/..., drivers/port, board and internal; never the
// packet path, which lives and dies in its own process.
package main
