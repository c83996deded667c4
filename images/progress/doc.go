// Package progress tells the person at the terminal what the builder is doing:
// stages with their seconds, downloads with their bytes, notes and warnings.
//
// On a terminal the present stage is one line that is rewritten. Elsewhere (CI,
// a log file) each stage is a line when it begins and one when it ends, with a
// sign of life every ten seconds. Results never go through here: they belong to
// standard output. It imports the standard library. A Reporter is safe for
// concurrent use; one stage is shown at a time.
package progress
