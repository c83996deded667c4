// Package version holds the version of the build. The image builder sets it
// with -ldflags -X; a plain `go build` says "devel".
package version
