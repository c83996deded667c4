// Package supervise keeps programs running: it starts them, knows when they are
// ready because they say so, restarts them with a growing pause, and stops them
// in order.
//
// A Supervisor has one goroutine for each service, and may be called
// concurrently. It decides; a Runner does: OS starts real processes, tests use
// a fake and the fake time of testing/synctest, so nothing in the decisions may
// touch the system.
//
// Imports the standard library, x/sys/unix and init/report for the names of
// what it reports. Reaping orphans does not belong here (see init/guard), nor
// does knowledge of any particular program.
package supervise
