// Package arch looks at the first bytes of a kernel, a module or a program and
// says for which machine it was built, so that an image never carries a part
// that its board cannot run.
//
// It imports the standard library. It is pure: bytes in, verdict out.
package arch
