package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weir/init/cmdline"
	"weir/init/config"
	"weir/init/supervise"
)

const forwarderPath = "/bin/forwarder"

// startServices starts what the machine is for, and waits until it is ready or
// the boot has waited enough.
func (b *boot) startServices(cfg *config.Config, line cmdline.Line) func(context.Context) error {
	return func(ctx context.Context) error {
		if line.Has(onlyKey) {
			return nil
		}
		if cfg == nil || len(cfg.Ports) == 0 {
			return errors.New("no ports are configured, so the forwarder has nothing to do")
		}
		if !exists(forwarderPath) {
			return fmt.Errorf("%s is not in the image: the kernel forwards alone", forwarderPath)
		}
		u, err := b.super.Start(forwarder(cfg))
		if err != nil {
			return err
		}
		select {
		case <-u.Ready():
			return nil
		case <-ctx.Done():
			return errors.New("the forwarder is not ready yet: the kernel forwards alone until it is")
		}
	}
}

// forwarder is the data plane. Memory is taken from everything else before it.
func forwarder(cfg *config.Config) supervise.Service {
	argv := []string{forwarderPath}
	for _, p := range cfg.Ports {
		tier := p.Tier
		if tier == "" {
			tier = config.TierAuto
		}
		argv = append(argv, "-port", fmt.Sprintf("%s=%s", p.Label, tier))
	}
	return supervise.Service{
		Name: "forwarder", Argv: argv, Notify: true,
		ReadyWithin: time.Minute, StopWithin: 10 * time.Second, OOM: -900,
	}
}
