package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"weir/netstack/mirror"
	"weir/netstack/status"
)

func main() {
	o, err := parseOptions(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, o, logger()); err != nil {
		fmt.Fprintln(os.Stderr, "forwarder:", err)
		os.Exit(1)
	}
}

// logger writes lines without a time: the supervisor adds its own.
func logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// run forwards until the context ends.
func run(ctx context.Context, o *options, log *slog.Logger) error {
	started := time.Now()
	held, err := lock(o.bpffs)
	if err != nil {
		return err
	}
	defer held.Close()
	listener, err := status.Listen(o.socket)
	if err != nil {
		return err
	}
	defer listener.Close()
	p, err := newPlane(o, log)
	if err != nil {
		return err
	}
	defer p.stop()
	names := make([]string, len(o.ports))
	for i, f := range o.ports {
		names[i] = f.name
	}
	m, err := mirror.New(mirror.Config{Ports: names, OnChange: p.update, Log: log})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ends := make(chan error, 2)
	go func() { ends <- m.Run(ctx) }()
	select {
	case <-p.ready:
	case err := <-ends:
		return err
	}
	go func() { ends <- status.Serve(ctx, listener, func() *status.Status { return p.status(m, started) }) }()
	go p.confirm(ctx, m)
	if err := notify("READY=1"); err != nil {
		log.Warn("supervisor does not hear", "err", err)
	}
	fmt.Println("ready")
	err = <-ends // the mirror or the status server failed, or the context ended
	cancel()
	return errors.Join(err, <-ends)
}

// confirmEvery is how often stale neighbours in use are asked after: well below
// the kernel's gc_staletime of 60 s (net/ipv4/arp.c), so that none is forgotten
// while traffic runs on it.
const confirmEvery = time.Second

// confirm has the kernel confirm the neighbours that the workers send to and
// that it holds for stale: it does not see that traffic.
func (p *plane) confirm(ctx context.Context, m *mirror.Mirror) {
	t := time.NewTicker(confirmEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			p.prune(now)
		}
		if ids := p.takeUsed(); len(ids) > 0 {
			m.Confirm(ids)
		}
	}
}

// takeUsed lists the stale next hops that were sent to since the last call.
func (p *plane) takeUsed() []uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []uint32
	if p.crew != nil {
		for _, w := range p.crew.members {
			w.w.TakeUsed(func(id uint32) { ids = append(ids, id) })
		}
	}
	return ids
}
