// Package lock is the lock file: which packages an image is made of, by version,
// file name, length and SHA-256, and the time at which the archive had them.
//
// It imports the standard library and the TOML library. It reads and writes the
// file; what a newer version would be is found by images/build.
package lock
