package stats

import (
	"reflect"
	"runtime"
	"testing"

	"weir/netstack/frame"
)

// fill gives every number of a Tally a value of its own, a field that somebody
// adds later included.
func fill(t *Tally, f func(i int) uint64) {
	i := 0
	v := reflect.ValueOf(t).Elem()
	for k := range v.NumField() {
		switch x := v.Field(k); x.Kind() {
		case reflect.Uint64:
			x.SetUint(f(i))
			i++
		case reflect.Array:
			for j := range x.Len() {
				x.Index(j).SetUint(f(i))
				i++
			}
		default:
			panic("a Tally holds counters only")
		}
	}
}

func TestAddPublishesEveryCounter(t *testing.T) {
	var w Worker
	var in, want Tally
	for range 2 {
		fill(&in, func(i int) uint64 { return uint64(i) + 1 })
		w.Add(&in)
		if in != (Tally{}) {
			t.Fatalf("Add left %+v: it would be counted twice", in)
		}
	}
	fill(&want, func(i int) uint64 { return 2 * (uint64(i) + 1) })
	if got := w.Read(); got != want {
		t.Fatalf("read %+v, want %+v", got, want)
	}
}

func TestTallyAddSub(t *testing.T) {
	var a, b, want Tally
	fill(&a, func(i int) uint64 { return uint64(1000 + i) })
	fill(&b, func(i int) uint64 { return uint64(3 * i) })
	fill(&want, func(i int) uint64 { return uint64(1000 + 4*i) })
	sum := a
	sum.Add(&b)
	if sum != want {
		t.Fatalf("sum %+v, want %+v", sum, want)
	}
	sum.Sub(&b)
	if sum != a {
		t.Fatalf("difference %+v, want %+v", sum, a)
	}
}

func TestSumOfWorkers(t *testing.T) {
	var w [3]Worker
	for i := range w {
		w[i].Add(&Tally{RX: 1 << i, Drops: [frame.NumReasons]uint64{frame.ReasonTxFull: uint64(i)}})
	}
	s := Sum(&w[0], &w[1], &w[2])
	if s.RX != 7 || s.Dropped() != 3 || s.Punted() != 0 {
		t.Fatalf("sum is %+v", s)
	}
}

func TestByName(t *testing.T) {
	got := ByName(&[frame.NumReasons]uint64{frame.ReasonTTL: 2, frame.ReasonRunt: 1})
	if want := map[string]uint64{"ttl": 2, "runt": 1}; !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// TestReadersSeeOneMoment has readers look while a writer adds: counters that
// are always added together must never be read apart, and no half of a number
// may be new and the other old (each count carries into its upper word).
func TestReadersSeeOneMoment(t *testing.T) {
	const step = 1<<32 - 1
	var w Worker
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			var in Tally
			in.RX, in.Forwarded, in.Drops[frame.ReasonRunt] = step, step, step
			w.Add(&in)
		}
	}()
	last := uint64(0)
	for range 20000 {
		got := w.Read()
		if got.RX%step != 0 || got.Forwarded != got.RX || got.Drops[frame.ReasonRunt] != got.RX || got.RX < last {
			t.Errorf("after RX %d, read RX %d, forwarded %d, drops %d", last, got.RX, got.Forwarded, got.Drops[frame.ReasonRunt])
			break
		}
		last = got.RX
	}
	close(stop)
	<-done
}

func TestNoAllocation(t *testing.T) {
	var w Worker
	var in, out Tally
	if n := testing.AllocsPerRun(100, func() { in.RX++; w.Add(&in); out = w.Read() }); n != 0 {
		t.Fatalf("%v allocations an Add and Read", n)
	}
	_ = out
}

// TestWorkersShareNoCacheLine: between the counters of two Workers side by side
// lie at least two cache lines.
func TestWorkersShareNoCacheLine(t *testing.T) {
	w := reflect.TypeFor[Worker]()
	first, _ := w.FieldByName("version")
	last, _ := w.FieldByName("drops")
	end := last.Offset + last.Type.Size()
	if gap := w.Size() - end + first.Offset; gap < 128 || first.Offset < 128 {
		t.Fatalf("%d bytes between two workers' counters, %d in front", gap, first.Offset)
	}
}

func BenchmarkAdd(b *testing.B) {
	var w Worker
	var in Tally
	for b.Loop() {
		in.RX, in.Forwarded, in.Batches = 64, 64, 1
		w.Add(&in)
	}
}

// TestReadWaitsForAdd: Read gives nothing out while an Add is halfway.
func TestReadWaitsForAdd(t *testing.T) {
	var w Worker
	w.Add(&Tally{RX: 1, Forwarded: 1})
	w.version.Store(3) // as Add does first
	w.rx.Store(2)
	got := make(chan Tally)
	go func() { got <- w.Read() }()
	for range 1000 {
		select {
		case t1 := <-got:
			t.Fatalf("read half an Add: RX %d, forwarded %d", t1.RX, t1.Forwarded)
		default:
			runtime.Gosched()
		}
	}
	w.forwarded.Store(2)
	w.version.Store(4)
	if t1 := <-got; t1.RX != 2 || t1.Forwarded != 2 {
		t.Fatalf("read RX %d, forwarded %d", t1.RX, t1.Forwarded)
	}
}
