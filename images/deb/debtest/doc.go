// Package debtest makes small Debian packages for tests.
//
// It imports the standard library and the compressors. Only tests import it.
package debtest
