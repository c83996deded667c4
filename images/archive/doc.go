// Package archive is a client of a Debian archive. Its chain of trust is apt's:
// keyring → signature of InRelease → SHA-256 of the Packages index → SHA-256 of
// the package. A plain-http mirror can therefore refuse and delay, and nothing else.
//
// It imports the standard library, the OpenPGP and xz readers. Where files are
// kept, and which are wanted, is decided by its callers. A Client is safe for
// concurrent use.
package archive
