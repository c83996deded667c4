package guard

import (
	"strings"
	"testing"
	"time"
)

func TestOrphansAreReapedAndNoStatusIsStolen(t *testing.T) {
	out, end := play(t, "reap")
	want(t, out, "commands 100 wrong 0 orphans 1000 zombies 0", "weir: power-off: asked for")
	if end != poweredOff {
		t.Errorf("ended by %v, want %v", end, poweredOff)
	}
}

func TestWorkerThatDiesStartsAgainOnCleanGround(t *testing.T) {
	out, end := play(t, "deaths")
	want(t, out,
		"start 0, 0 other processes, last: \n", "nil pointer dereference",
		"start 1, 0 other processes, last: exit status 2", "concurrent map",
		"start 2, 0 other processes, last: exit status 2",
		"death 3 of 6",
		"start 3, 0 other processes, last: killed by the signal killed",
		"weir: reboot: asked for")
	if end != restarted {
		t.Errorf("ended by %v, want %v", end, restarted)
	}
}

func TestWorkerThatCannotLiveEndsInAReboot(t *testing.T) {
	out, end := play(t, "hopeless")
	want(t, out, "weir: reboot: init's worker died 6 times within 10m0s, the last time: exit status 3")
	if n := strings.Count(out, "starts again"); n != giveUp-1 || end != restarted {
		t.Errorf("started again %d times and ended by %v", n, end)
	}
}

func TestPanicInProcess1IsCaught(t *testing.T) {
	out, end := play(t, "panic")
	want(t, out, "weir: panic in process 1", "nil pointer", "start 2, 0 other processes, last: process 1 caught its own panic",
		"weir: reboot: asked for")
	if end != restarted {
		t.Errorf("ended by %v, want %v", end, restarted)
	}
}

func TestNoSignalEndsProcess1(t *testing.T) {
	out, end := play(t, "signals")
	want(t, out, "ignores the signal", "the worker was asked", "weir: power-off: asked for by the signal")
	if end != poweredOff {
		t.Errorf("ended by %v, want %v", end, poweredOff)
	}
}

func TestWorkerThatDoesNotStopIsEnded(t *testing.T) {
	out, end := play(t, "deaf")
	want(t, out, "did not stop within", "weir: reboot: asked for by the signal terminated")
	if end != restarted {
		t.Errorf("ended by %v, want %v", end, restarted)
	}
}

func TestDeathsAreForgotten(t *testing.T) {
	g := &guardian{}
	now := time.Now()
	g.deaths = []time.Time{now.Add(-2 * Window), now.Add(-Window - time.Second), now.Add(-time.Second)}
	if got := g.recent(); len(got) != 1 {
		t.Errorf("%d deaths count, want 1", len(got))
	}
}

func TestLadder(t *testing.T) {
	want := []Mode{Normal, Normal, Normal, Default, Default, Shells}
	for deaths, m := range want {
		if got := ModeAfter(deaths); got != m {
			t.Errorf("after %d deaths: mode %d, want %d", deaths, got, m)
		}
	}
}
