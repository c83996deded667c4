package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// width is what a page keeps to: the narrowest console people use is wider than
// a serial line's 80, and half a screen.
const width = 100

// grid is a table of text: columns as wide as their widest cell, numbers to the
// right.
type grid struct {
	rows [][]string
}

func (g *grid) row(cells ...string) {
	for i := range cells {
		cells[i] = printable(cells[i])
	}
	g.rows = append(g.rows, cells)
}

// String is the table, each line cut to the page's width.
func (g *grid) String() string {
	var widths, numbers, words []int
	for n, r := range g.rows {
		for i, c := range r {
			if i == len(widths) {
				widths, numbers, words = append(widths, 0), append(numbers, 0), append(words, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
			switch {
			case n == 0 || c == "" || c == "-": // a heading, or nothing to say
			case numeric(c):
				numbers[i]++
			default:
				words[i]++
			}
		}
	}
	var b strings.Builder
	for _, r := range g.rows {
		var line strings.Builder
		for i, c := range r {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
			if numbers[i] > 0 && words[i] == 0 {
				line.WriteString(pad + c)
			} else {
				line.WriteString(c + pad)
			}
			line.WriteString("  ")
		}
		b.WriteString(cut(strings.TrimRight(line.String(), " "), width) + "\n")
	}
	return b.String()
}

// numeric says whether a cell looks like a number with its unit.
func numeric(s string) bool {
	return s[0] >= '0' && s[0] <= '9' && !strings.ContainsAny(s, "/:")
}

// cut shortens a line that is too wide, visibly.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// wrap breaks text at blanks into lines of the page's width, the first after
// lead and the others below it.
func wrap(lead, text string) string {
	var b strings.Builder
	line, indent := "", printable(lead)
	flush := func() {
		if line != "" {
			b.WriteString(cut(indent+line, width) + "\n")
		}
		line, indent = "", strings.Repeat(" ", utf8.RuneCountInString(indent))
	}
	for _, w := range strings.Fields(printable(text)) {
		if line != "" && utf8.RuneCountInString(indent+line+" "+w) > width {
			flush()
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	flush()
	return b.String()
}

// printable replaces what could play tricks with a terminal: names and messages
// come from drivers, services and files.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '\t' {
			return ' '
		}
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, s)
}

// count is a number with separators: 1,234,567.
func count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// percent is a share of a total.
func percent(n uint64, total float64) string {
	if total == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/total)
}

func size(n int64) string {
	if n < 10<<10 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

func seconds(ms int64) string { return fmt.Sprintf("%.2f s", float64(ms)/1000) }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
