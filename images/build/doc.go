// Package build makes an image for a board: it joins the lock file, the archive,
// the kernel package, the compiler and the initramfs. Build reads as the list of
// steps.
//
// It imports the other packages of images/ and board. It writes its output
// folder and the cache and nothing else; progress goes to the Reporter. Parsing
// of command lines belongs to images/cmd/weir-image.
package build
