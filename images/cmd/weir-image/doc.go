// Command weir-image builds Weir's images: a kernel from Debian's packages, and
// an initramfs with Weir's programs, u-root's commands and the modules that the
// board names. "weir-image help" is its manual.
//
// The packages below images/, in the direction of travel:
//
//	apt        which mirror this machine uses
//	archive    the signed index and the files of a Debian archive
//	lock       which packages an image is made of, exactly
//	fetch      lock + archive + cache → a package on this machine
//	cache      downloads and slow results, by hash
//	deb        what is in a package
//	kmod       the modules that a board names, and the loader's tables
//	arch       refuses parts for another machine
//	gobuild    our programs and u-root's busybox
//	initramfs  the archive that the kernel unpacks, the same bytes every time
//	build      all of it, in order, and the manifest
//	repro      the proof that only the inputs matter
//	atomic     files that are whole or absent
//	progress   what the person at the terminal sees meanwhile
package main
