package xdp

// The object is committed; scripts/generate rebuilds it, and CI compares.
//
//go:generate ../../scripts/generate
