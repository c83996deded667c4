// Package deb reads Debian binary packages: an ar archive with the format's
// version, a control tar and a data tar (deb(5)), compressed by xz, zstd, gzip or
// not at all. It needs no dpkg and no root.
//
// It imports the standard library and the decompressors. A package that ends too
// early is ErrTruncated, never a short file in silence. Writing packages never
// belongs here.
package deb
