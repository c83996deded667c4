//go:build !amd64

package mirror

// The guests are emulated: their kernels take a millisecond for a route.
const burst = 4000
