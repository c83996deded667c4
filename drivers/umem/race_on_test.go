//go:build race

package umem

const raceEnabled = true
