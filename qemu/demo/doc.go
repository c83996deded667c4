// Package demo is `make demo`: it boots a board's image as a gateway, carries
// traffic through it, and shows by the gateway's own counters and by every
// frame of a load that Weir's workers forwarded it.
//
// It decides nothing by itself: a check is one function over the figures, and
// the figures can be had as JSON. Nothing that only tests need may be added.
package demo
