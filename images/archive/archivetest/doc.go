// Package archivetest is a Debian archive of one suite on the loopback
// interface, with a key of its own, for tests. What it serves can be spoilt.
//
// It imports the standard library, the OpenPGP and xz writers. Only tests import it.
package archivetest
