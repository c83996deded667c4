// Package board is the machines Weir runs on, as data: one folder a board, with
// board.toml (what it is and what it needs) and weir.toml (the configuration it
// comes up with when the user has written none or a broken one).
//
// A new board is a new folder; the package itself knows no board by name. The
// data is embedded, so that PID 1, the image builder and the lab read the same
// bytes. It imports the standard library and the TOML reader. Values are
// read-only after the first call and safe for concurrent use. Code that acts on
// a board (loads modules, renames ports, starts QEMU) never belongs here.
package board
