//go:build amd64

package mirror

const burst = 20000
