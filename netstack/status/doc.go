// Package status is what the forwarder tells about itself: the JSON document
// that `weir status --json` prints, and the Unix socket it comes from.
//
// One connection is one document: the server writes it and closes. Names are
// the same on the command line, in JSON and in metrics. It imports the
// standard library only, so that both ends may use it.
package status
