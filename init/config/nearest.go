package config

import "strings"

// synonyms are words that other configurations use for ours.
var synonyms = map[string]string{
	"name": "label", "ifname": "label", "interface": "port", "dev": "port", "device": "port",
	"addr": "address", "ip": "address", "ipaddr": "address", "cidr": "address",
	"gateway": "via", "gw": "via", "nexthop": "via",
	"dst": "to", "dest": "to", "destination": "to", "prefix": "to", "network": "to",
	"forwarding": "forward", "host": "hostname", "of": "dt", "devicetree": "dt", "hwaddr": "mac", "macaddress": "mac",
}

// nearest returns which of the known words was probably meant, or "".
func nearest(word string, known []string) string {
	word = strings.ToLower(word)
	best, bestDistance := "", 3
	for _, k := range known {
		if synonyms[word] == k {
			return k
		}
		// A third of the word may be wrong, and never more than two letters.
		if d := distance(word, strings.ToLower(k)); d < bestDistance && 3*d <= max(len(word), len(k)) {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance counts insertions, deletions, replacements and swaps of neighbours
// that make a into b (optimal string alignment).
func distance(a, b string) int {
	if len(a) > len(b)+2 || len(b) > len(a)+2 {
		return 3 // as far as nearest cares
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
