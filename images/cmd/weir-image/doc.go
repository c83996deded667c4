// Command weir-image builds Weir's images: a kernel from Debian's packages, and
// an initramfs with Weir's programs, u-root's commands and the modules that the
// board names. "weir-image help" is its manual.
package main
