// Package kmodtest makes files that look like kernels and kernel modules to
// whoever reads their headers, for tests.
//
// It imports the standard library and the xz writer. Only tests import it.
package kmodtest
