package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"weir/board"
	"weir/init/report"
)

// boardFile names the board that the image was built for.
const boardFile = "/etc/weir/board"

// findBoard finds the board's data and checks that the machine is that board.
// A mismatch is said and the image's board is used: it is the only one whose
// modules are here.
func (b *boot) findBoard(context.Context) (*board.Board, error) {
	text, err := os.ReadFile(boardFile)
	if err != nil {
		return nil, fmt.Errorf("which board is this? %w: build the image with weir-image", err)
	}
	name := strings.TrimSpace(string(text))
	brd, err := board.Lookup(name)
	if err != nil {
		return nil, err
	}
	b.update(func(r *report.Report) { r.Board = brd.Name })
	tree, err := os.ReadFile("/proc/device-tree/compatible")
	if err != nil {
		return brd, fmt.Errorf("the machine does not say what it is: %w", err)
	}
	machine := compatible(tree)
	for _, c := range brd.Compatible {
		if slices.Contains(machine, c) {
			return brd, nil
		}
	}
	return brd, fmt.Errorf("the image is for %s (%s) and the machine is %s: use the image for this board",
		brd.Name, strings.Join(brd.Compatible, ", "), strings.Join(machine, ", "))
}

// compatible splits a device tree's string list (Devicetree specification
// 0.4, section 2.2.4): each string ends with a zero byte.
func compatible(prop []byte) []string {
	return strings.FieldsFunc(string(prop), func(r rune) bool { return r == 0 })
}
