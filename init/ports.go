package main

import (
	"context"
	"errors"
	"fmt"

	"weir/init/config"
	"weir/init/kmsg"
	"weir/init/netup"
	"weir/init/report"
)

// bringUpPorts applies the configuration once, so that the services find the
// ports.
func (b *boot) bringUpPorts(cfg *config.Config) func(context.Context) error {
	return func(ctx context.Context) error {
		if cfg == nil {
			return errors.New("no configuration, no ports")
		}
		res, err := netup.Apply(ctx, cfg)
		b.portsNow(res)
		return err
	}
}

// watchPorts keeps the ports as they were declared: those that appear late, get
// their carrier or are unplugged and come back.
func (b *boot) watchPorts(cfg *config.Config) {
	if cfg == nil {
		return
	}
	background("ports", func() error {
		last := ""
		err := netup.Watch(context.Background(), cfg, func(res netup.Result, err error) {
			b.portsNow(res)
			if text := fmt.Sprint(err); err != nil && text != last {
				kmsg.Errorf("weir: ports: %v", err)
			}
			last = fmt.Sprint(err)
		})
		if err == nil {
			err = errors.New("the watch of the ports ended")
		}
		return err
	})
}

func (b *boot) portsNow(res netup.Result) {
	for _, c := range res.Changes {
		kmsg.Infof("weir: ports: %s", c)
	}
	b.update(func(r *report.Report) { r.Ports = res.Ports })
}
