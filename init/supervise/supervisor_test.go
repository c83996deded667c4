package supervise

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"weir/init/report"
)

// The tests run in synctest's bubble: time is fake and jumps when every
// goroutine waits, so that minutes cost nothing and nothing depends on speed.

func status(t *testing.T, s *Supervisor, name string) report.Service {
	t.Helper()
	synctest.Wait()
	for _, r := range s.Status() {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no service %s", name)
	return report.Service{}
}

func start(t *testing.T, s *Supervisor, svc Service) Unit {
	t.Helper()
	u, err := s.Start(svc)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return u
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestPauseGrowsIsCappedAndStartsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRunner{}
		s := New(Options{Runner: f})
		start(t, s, Service{Name: "a"})
		var pauses []time.Duration
		measure := func() time.Duration {
			n, began := f.starts(), time.Now()
			f.last().end(Exit{Code: 1})
			for f.starts() == n {
				time.Sleep(time.Millisecond)
				synctest.Wait()
			}
			return time.Since(began)
		}
		for range 10 {
			pauses = append(pauses, measure())
		}
		want := []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second,
			4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second, 30 * time.Second}
		if !slices.Equal(pauses, want) {
			t.Errorf("pauses %v, want %v", pauses, want)
		}
		time.Sleep(healthy)
		if got := measure(); got != 250*time.Millisecond {
			t.Errorf("pause after a healthy life: %v", got)
		}
		r := status(t, s, "a")
		if r.Restarts != 11 || r.LastExit != "exit 1" || r.PID != f.last().pid {
			t.Errorf("status %+v", r)
		}
		s.Stop(context.Background())
	})
}

func TestReadyIsWhatTheServiceSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRunner{}
		s := New(Options{Runner: f})
		u := start(t, s, Service{Name: "a", Notify: true, ReadyWithin: 10 * time.Second})
		time.Sleep(9 * time.Second)
		if status(t, s, "a").Ready || closed(u.Ready()) {
			t.Fatal("ready before it said so")
		}
		close(f.last().ready)
		if !status(t, s, "a").Ready || !closed(u.Ready()) {
			t.Fatal("not ready after it said so")
		}
		time.Sleep(time.Hour)
		if f.starts() != 1 {
			t.Fatal("a ready service was restarted")
		}
		f.last().end(Exit{Signal: syscall.SIGKILL})
		if r := status(t, s, "a"); r.Ready || r.PID != 0 {
			t.Errorf("a dead service: %+v", r)
		}
		time.Sleep(firstPause)
		if r := status(t, s, "a"); r.Ready || f.starts() != 2 {
			t.Errorf("the next process is ready unasked: %+v, %d starts", r, f.starts())
		}
		s.Stop(context.Background())
	})
}

func TestServiceThatIsNeverReadyIsRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRunner{}
		s := New(Options{Runner: f})
		start(t, s, Service{Name: "a", Notify: true, ReadyWithin: 10 * time.Second})
		first := f.last()
		time.Sleep(10*time.Second + firstPause)
		synctest.Wait()
		if !first.got(syscall.SIGTERM) || f.starts() != 2 {
			t.Errorf("terminated: %v, starts: %d", first.got(syscall.SIGTERM), f.starts())
		}
		s.Stop(context.Background())
	})
}

func TestServiceWithoutNotifyIsReadyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Runner: &fakeRunner{}})
		u := start(t, s, Service{Name: "a"})
		if !status(t, s, "a").Ready || !closed(u.Ready()) {
			t.Error("not ready")
		}
		s.Stop(context.Background())
	})
}

func TestDeafServiceIsKilledAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRunner{deaf: true}
		s := New(Options{Runner: f})
		start(t, s, Service{Name: "a", StopWithin: 7 * time.Second})
		began := time.Now()
		s.Stop(context.Background())
		if took := time.Since(began); took != 7*time.Second || !f.last().got(syscall.SIGTERM) || !f.last().got(syscall.SIGKILL) {
			t.Errorf("stopped after %v with %v", took, f.last().signals)
		}
	})
}

func TestStopIsInReverseOrderAndFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRunner{deaf: true}
		s := New(Options{Runner: f})
		for _, n := range []string{"first", "second", "third"} {
			start(t, s, Service{Name: n, StopWithin: time.Second})
		}
		ps := slices.Clone(f.started)
		go s.Stop(context.Background())
		for _, i := range []int{2, 1, 0} {
			synctest.Wait()
			for j, p := range ps {
				if p.got(syscall.SIGTERM) != (j >= i) {
					t.Errorf("while %s stops: %s was told: %v", ps[i].svc.Name, p.svc.Name, p.got(syscall.SIGTERM))
				}
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		time.Sleep(time.Hour)
		if f.starts() != 3 {
			t.Errorf("%d starts after Stop", f.starts())
		}
		if _, err := s.Start(Service{Name: "late"}); err == nil {
			t.Error("a service was started after Stop")
		}
	})
}

func TestStopThatHasNoTimeKills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRunner{deaf: true}
		s := New(Options{Runner: f})
		start(t, s, Service{Name: "a", StopWithin: time.Hour})
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		began := time.Now()
		s.Stop(ctx)
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestStopDuringThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRunner{fail: errFake}
		s := New(Options{Runner: f})
		start(t, s, Service{Name: "a"})
		time.Sleep(time.Minute)
		r := status(t, s, "a")
		if r.LastExit != errFake.Error() || f.starts() < 7 {
			t.Errorf("%+v after %d starts", r, f.starts())
		}
		began := time.Now()
		s.Stop(context.Background())
		if time.Since(began) != 0 {
			t.Errorf("Stop waited %v for a pause", time.Since(began))
		}
	})
}

func TestOnceEndsAndKeepsItsExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRunner{}
		s := New(Options{Runner: f})
		u := start(t, s, Service{Name: "run", Once: true})
		f.last().end(Exit{Code: 7})
		time.Sleep(time.Hour)
		if !closed(u.Done()) || u.Exit().Code != 7 || f.starts() != 1 {
			t.Errorf("done %v, exit %v, starts %d", closed(u.Done()), u.Exit(), f.starts())
		}
		s.Stop(context.Background())
	})
}

func TestRestartIsAtOnceAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeRunner{}
		s := New(Options{Runner: f})
		start(t, s, Service{Name: "a"})
		began := time.Now()
		if err := s.Restart("a"); err != nil {
			t.Fatal(err)
		}
		r := status(t, s, "a")
		if f.starts() != 2 || time.Since(began) != 0 || r.Restarts != 1 || r.PID != f.last().pid {
			t.Errorf("%d starts after %v: %+v", f.starts(), time.Since(began), r)
		}
		if s.Restart("b") == nil {
			t.Error("a service that is not there was restarted")
		}
		s.Stop(context.Background())
	})
}

func TestNamesAreUnique(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Runner: &fakeRunner{}})
		start(t, s, Service{Name: "a"})
		if _, err := s.Start(Service{Name: "a"}); err == nil {
			t.Error("two services of one name")
		}
		s.Stop(context.Background())
	})
}
