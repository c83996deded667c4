// Package atomic writes a file whole or not at all: into a temporary file beside
// it, synced, then renamed over the name. Whoever opens the name sees the old
// bytes or the new ones, also after an interrupt or a power cut.
//
// It imports the standard library. Two writers of one name may run at the same
// time: the last rename wins.
package atomic
