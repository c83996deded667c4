// Package stats counts what a worker does with its frames.
//
// A Worker's counters have one writer, the worker's goroutine, which adds to
// plain numbers and publishes them once a batch; any other goroutine reads what
// was last published, whole, on 32-bit machines too. Counters only grow. Their
// names are the same on the command line, in JSON and in metrics. Imports the
// standard library and netstack/frame alone; no lock, no log and no I/O may be
// added here.
package stats
