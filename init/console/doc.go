// Package console knows terminals: which shell runs on them, and how to leave
// them as a new shell expects.
//
// For one caller per terminal at a time. Standard library and x/sys/unix. What
// PID 1 says does not go through here but through init/kmsg, which never blocks.
package console
