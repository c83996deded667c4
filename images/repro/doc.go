// Package repro proves that an image depends on its inputs and on nothing else:
// it builds the same source tree in two folders, with separate and empty build
// caches, and other umask, time zone, home, language and temporary folder, and
// compares the bytes; then it changes one byte of an input and looks for another
// image.
//
// It costs two builds without any cache, so it is a command and not a unit test.
// It imports the standard library, images/build's names, cache, initramfs' reader
// and progress. It never writes to the source tree.
package repro
