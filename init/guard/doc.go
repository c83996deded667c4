// Package guard is process 1 proper: it starts the worker that does
// everything else, reaps what the system leaves behind, restarts the worker
// when it dies, and ends the machine in order.
//
// The kernel panics ("Attempted to kill init") when process 1 ends, and a Go
// program cannot catch all of its own ends: a concurrent map write, a stack
// that ran out, memory or threads that the kernel refuses. So process 1 does
// nothing that could fail. It has one goroutine, locks nothing, keeps no state
// but the times of the last deaths, allocates next to nothing after its start,
// runs without garbage collection and with its threads made ahead of need.
// Whatever can fail lives in the worker, whose death is an event here and not
// an end.
//
// The division also settles who reaps. Process 1 inherits every orphan and
// waits for any child; the worker runs commands and waits only for its own.
// They are different processes, so the exit status of a command can never be
// stolen by the reaper, and no orphan stays a zombie.
//
// A worker that dies is started again, after everything it left running has
// been killed: a new worker finds the system as at boot, with mounts, modules
// and ports in place. The forwarder is built to be killed; its program stays in
// the kernel meanwhile. Deaths within Window climb a ladder, see Mode.
//
// Only Run, and the constants for the worker. Imports the standard library,
// x/sys/unix and init/kmsg. Nothing with a configuration, a network or a
// goroutine may ever be added.
package guard
