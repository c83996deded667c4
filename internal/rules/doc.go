// Package rules keeps the rules of the tree: which package may import which,
// and what every package has to have. It holds tests only.
package rules
