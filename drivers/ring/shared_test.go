package ring

import (
	"strings"
	"testing"
)

// memory is a ring's shared part in Go memory, both indices at start.
func memory[T any](entries int, start uint32) Shared[T] {
	p, c := start, start
	return Shared[T]{Producer: &p, Consumer: &c, Flags: new(uint32), Entries: make([]T, entries)}
}

// ends makes both ends on the same memory: in production one of them is the
// kernel's.
func ends[T any](t testing.TB, entries int, start uint32) (*Producer[T], *Consumer[T], Shared[T]) {
	t.Helper()
	m := memory[T](entries, start)
	p, err := NewProducer(m)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewConsumer(m)
	if err != nil {
		t.Fatal(err)
	}
	return &p, &c, m
}

func TestSizes(t *testing.T) {
	for _, n := range []int{-1, 0, 3, 6, 100, 2047, 2049, maxEntries + 1} {
		err := CheckSize(n)
		if err == nil || !strings.Contains(err.Error(), "power of two") {
			t.Errorf("CheckSize(%d): %v", n, err)
		}
	}
	for n := uint(1); n <= maxEntries; n *= 2 {
		if err := CheckSize(int(n)); err != nil {
			t.Error(err)
		}
	}
	if _, err := NewProducer(memory[Desc](3, 0)); err == nil {
		t.Error("NewProducer takes 3 entries")
	}
	if _, err := NewConsumer(Shared[Desc]{Entries: make([]Desc, 2)}); err == nil {
		t.Error("NewConsumer takes no index memory")
	}
	if _, err := NewSPSC[int](12); err == nil {
		t.Error("NewSPSC takes 12 entries")
	}
}
