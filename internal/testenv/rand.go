package testenv

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// Rand is a source of random numbers for one test. Its seed is new with every
// run and logged, so that a failure shows it; WEIR_SEED=N repeats that run.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("WEIR_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			t.Fatalf("WEIR_SEED=%q is not a number: %v", s, err)
		}
		seed = n
	}
	t.Logf("repeat with WEIR_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
