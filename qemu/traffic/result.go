package traffic

import (
	"fmt"
	"strings"
	"time"
)

// Result is how a load fared.
type Result struct {
	Seed     uint64 `json:"seed"`
	Flows    int    `json:"flows"`
	Sent     int    `json:"sent"`
	Received int    `json:"received"` // each frame once
	Lost     int    `json:"lost"`
	// What arrived, but not as a router must leave it.
	Duplicated  int `json:"duplicated"`
	Reordered   int `json:"reordered"` // after a later frame of its flow
	Corrupted   int `json:"corrupted"` // payload or length changed
	BadChecksum int `json:"bad_checksum"`
	WrongTTL    int `json:"wrong_ttl"` // not exactly one less than sent
	WrongMAC    int `json:"wrong_mac"` // not from the gateway to the receiver
	// FlowsSeen is how many flows had at least one frame arrive.
	FlowsSeen int `json:"flows_seen"`
	// MissedByTester counts frames that reached the receiving host, but not this
	// program: the machine was too busy, and they are among the lost.
	MissedByTester int `json:"missed_by_tester"`
	// LongestGap is the longest time without a frame while the load ran.
	LongestGap time.Duration `json:"longest_gap_ns"`
	Took       time.Duration `json:"took_ns"` // sending
	// Examples are the first few faults in words.
	Examples []string `json:"examples"`
}

// Err is nil if every frame arrived exactly as a router must leave it.
func (r *Result) Err() error {
	if r.Lost == 0 && r.wrong() == 0 {
		return nil
	}
	e := ""
	if len(r.Examples) > 0 {
		e = "; " + strings.Join(r.Examples, "; ")
	}
	return fmt.Errorf("%s%s", r, e)
}

func (r *Result) wrong() int {
	return r.Duplicated + r.Reordered + r.Corrupted + r.BadChecksum + r.WrongTTL + r.WrongMAC
}

// String is one line: the counts, with faults only where there are any.
func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d frames of %d flows arrived, %d lost", r.Received, r.Sent, r.Flows, r.Lost)
	for _, f := range []struct {
		n    int
		what string
	}{
		{r.Duplicated, "duplicated"}, {r.Reordered, "reordered"}, {r.Corrupted, "corrupted"},
		{r.BadChecksum, "with a bad checksum"}, {r.WrongTTL, "with a wrong TTL"}, {r.WrongMAC, "with wrong MACs"},
		{r.MissedByTester, "missed by this program"},
	} {
		if f.n > 0 {
			fmt.Fprintf(&b, ", %d %s", f.n, f.what)
		}
	}
	fmt.Fprintf(&b, " (seed %d)", r.Seed)
	return b.String()
}

// examplesMax is how many faults are kept in words.
const examplesMax = 5

func (r *Result) example(format string, args ...any) {
	if len(r.Examples) < examplesMax {
		r.Examples = append(r.Examples, fmt.Sprintf(format, args...))
	}
}
