// Package mount mounts the kernel's file systems and makes the links below /dev
// that programs expect.
//
// Everything may be done again: what is there already is left alone, so that a
// restarted boot finds its own /run. For one caller at a time. Block devices do
// not belong here.
package mount
