package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"weir/init/guard"
	"weir/init/kmsg"
	"weir/init/report"
)

// said collects what would go to the kernel's log.
type said struct {
	mu  sync.Mutex
	all []string
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.all, "\n")
}

func testBoot(t *testing.T) (*boot, *said) {
	t.Helper()
	s := &said{}
	kmsg.Redirect(func(_ kmsg.Level, line string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all = append(s.all, line)
	})
	t.Cleanup(func() { kmsg.Redirect(nil) })
	return &boot{report: report.NewWriter(filepath.Join(t.TempDir(), "boot.json"))}, s
}

func TestStepGivesItsValueAndIsReported(t *testing.T) {
	b, _ := testBoot(t)
	got := stepFor(b, "numbers", time.Minute, func(context.Context) (int, error) { return 42, nil })
	r := b.report.Get()
	if got != 42 || len(r.Steps) != 1 || r.Steps[0].Name != "numbers" || r.Steps[0].Errors != nil || r.Steps[0].StartMS <= 0 {
		t.Errorf("%d, %+v", got, r.Steps)
	}
}

func TestFailedStepKeepsItsValueAndSaysAllErrors(t *testing.T) {
	b, s := testBoot(t)
	got := stepFor(b, "ports", time.Minute, func(context.Context) (int, error) {
		return 1, errors.Join(errors.New("lan is missing"), fmt.Errorf("routes: %w", errors.New("no way")), errors.Join(errors.New("inner")))
	})
	want := []string{"lan is missing", "routes: no way", "inner"}
	if got != 1 || !slices.Equal(b.report.Get().Steps[0].Errors, want) {
		t.Errorf("%d, %q", got, b.report.Get().Steps[0].Errors)
	}
	for _, w := range want {
		if !strings.Contains(s.String(), "weir: ports: "+w) {
			t.Errorf("%q was not said", w)
		}
	}
}

func TestStepThatPanicsStopsNothing(t *testing.T) {
	b, s := testBoot(t)
	got := stepFor(b, "bad", time.Minute, func(context.Context) (*int, error) {
		var p *boot
		return nil, p.report.Update(nil)
	})
	if got != nil || !strings.Contains(strings.Join(b.report.Get().Steps[0].Errors, ""), "panic: runtime error") {
		t.Errorf("%v, %+v", got, b.report.Get().Steps)
	}
	if !strings.Contains(s.String(), "step_test.go") {
		t.Error("the stack was not said")
	}
}

func TestStepThatHangsIsLeftBehind(t *testing.T) {
	b, _ := testBoot(t)
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		began := time.Now()
		got := stepFor(b, "hang", 8*time.Second, func(context.Context) (int, error) {
			<-release
			return 7, nil
		})
		if took := time.Since(began); got != 0 || took != 10*time.Second {
			t.Errorf("%d after %v", got, took)
		}
		close(release)
	})
	if e := b.report.Get().Steps[0].Errors; len(e) != 1 || !strings.Contains(e[0], "not done after 8s") {
		t.Errorf("%q", e)
	}
}

func TestBackgroundGoesOnAfterPanicAndError(t *testing.T) {
	_, s := testBoot(t)
	synctest.Test(t, func(t *testing.T) {
		n := 0
		done := make(chan struct{})
		background("work", func() error {
			n++
			switch n {
			case 1:
				panic("first")
			case 2:
				return errors.New("second")
			}
			close(done)
			return nil
		})
		began := time.Now()
		<-done
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
	})
	for _, w := range []string{"work: panic: first; again in 1s", "work: second; again in 2s"} {
		if !strings.Contains(s.String(), w) {
			t.Errorf("%q was not said:\n%s", w, s)
		}
	}
}

func TestReportThatCannotBeWrittenIsSaidOnce(t *testing.T) {
	b, s := testBoot(t)
	b.report = report.NewWriter(filepath.Join(t.TempDir(), "no", "boot.json"))
	for range 3 {
		b.step("x", time.Minute, func(context.Context) error { return nil })
	}
	if n := strings.Count(s.String(), "boot report"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

func TestEndOfRunIsAsked(t *testing.T) {
	b := &boot{ends: make(chan end, 1)}
	for range 3 { // the second and third find one waiting, and do not block
		if err := b.ask(end{guard.ExitReboot, "test"}); err != nil {
			t.Fatal(err)
		}
	}
	if e := <-b.ends; e.status != guard.ExitReboot {
		t.Errorf("%+v", e)
	}
}
