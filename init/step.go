package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"weir/init/clock"
	"weir/init/kmsg"
	"weir/init/report"
)

// step runs one step that gives nothing back.
func (b *boot) step(name string, limit time.Duration, f func(context.Context) error) {
	stepFor(b, name, limit, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
}

// stepFor runs one step of the boot and returns what it gives: the zero value
// if it panics, or is not done within limit. Then it is left behind, to end when it
// can (a call may hang in the kernel), and the boot goes on. Errors go to the
// console and the report.
func stepFor[T any](b *boot, name string, limit time.Duration, f func(context.Context) (T, error)) T {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	start := clock.SinceBoot()
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				kmsg.Errorf("weir: %s: panic: %v\n%s", name, p, debug.Stack())
				o.err = fmt.Errorf("panic: %v", p)
			}
			done <- o
		}()
		o.value, o.err = f(ctx)
	}()
	var o outcome
	select {
	case o = <-done:
	case <-time.After(limit + limit/4):
		// What honours ctx has had its time to say what it was waiting for.
		o.err = fmt.Errorf("not done after %v, going on without it", limit)
	}
	took := clock.SinceBoot() - start
	texts := sentences(o.err)
	for _, t := range texts {
		kmsg.Errorf("weir: %s: %s", name, t)
	}
	b.update(func(r *report.Report) {
		r.Steps = append(r.Steps, report.Step{Name: name, StartMS: start.Milliseconds(), TookMS: took.Milliseconds(), Errors: texts})
	})
	return o.value
}

// sentences splits joined errors.
func sentences(err error) []string {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if _, wrapped := err.(interface{ Unwrap() error }); !wrapped && errors.As(err, &joined) {
		var all []string
		for _, e := range joined.Unwrap() {
			all = append(all, sentences(e)...)
		}
		return all
	}
	return strings.Split(err.Error(), "\n")
}

// background runs f again and again until it returns nil; a panic or an error
// is said, and costs a pause.
func background(name string, f func() error) {
	go func() {
		for pause := time.Second; ; pause = min(2*pause, time.Minute) {
			err := guarded(f)
			if err == nil {
				return
			}
			kmsg.Errorf("weir: %s: %v; again in %v", name, err, pause)
			time.Sleep(pause)
		}
	}()
}

// guarded makes a panic an error.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			kmsg.Errorf("weir: panic: %v\n%s", p, debug.Stack())
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

// complainOnce says an error the first time only.
type complainOnce struct{ once sync.Once }

func (c *complainOnce) say(err error) {
	if err != nil {
		c.once.Do(func() { kmsg.Errorf("weir: %v", err) })
	}
}
