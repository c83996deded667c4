//go:build !race

package umem

const raceEnabled = false
