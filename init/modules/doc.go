// Package modules loads kernel modules: by name, with what they depend on, and
// by the modalias of every device the kernel has found (coldplug).
//
// It reads what depmod wrote (modules.dep, modules.alias, modules.builtin) and
// hands files to finit_module(2) as they are; the kernel unpacks .ko.xz itself.
// A module that is built in or already loaded is a success.
//
// An Index is immutable and may be used concurrently; a Loader is for one
// caller at a time. Imports the standard library and x/sys/unix. Hardware
// knowledge does not belong here: which modules a board wants is board data.
package modules
