// Package kmod chooses the modules of an image from a kernel package and writes
// the tables that the loader reads: modules.dep, modules.alias, modules.softdep
// and modules.builtin, in the format of depmod (kmod's modules.dep(5)).
//
// Debian's kernel packages carry no tables, and a table over all modules would
// name files that the image does not have. What the tables need stands in each
// module's .modinfo section: its name, what it depends on, its aliases and soft
// dependencies. Modules are kept compressed as they are, because the kernel
// unpacks them (MODULE_INIT_COMPRESSED_FILE).
//
// It imports the standard library, the xz reader and images/arch. It is pure
// over the files it is given. Loading modules never belongs here.
package kmod
