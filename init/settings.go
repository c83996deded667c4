package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"weir/board"
	"weir/init/config"
	"weir/init/guard"
	"weir/init/kmsg"
	"weir/init/report"
)

// Which configuration is in force.
const fromBoard = "board default"

// configure reads the operator's configuration, or falls back to the board's.
// The reasons go to the console and the report; they are no errors of the step
// as long as some configuration is in force.
func (b *boot) configure(brd *board.Board) func(context.Context) (*config.Config, error) {
	return func(context.Context) (*config.Config, error) {
		var reasons []string
		if b.mode >= guard.Default {
			reasons = []string{fmt.Sprintf("init's worker died %d times with it", b.deaths)}
		} else {
			data, err := os.ReadFile(config.Path)
			cfg, why := choose(data, err)
			if cfg != nil {
				b.inForce(config.Path, nil)
				return cfg, nil
			}
			reasons = why
		}
		b.inForce(fromBoard, reasons)
		if brd == nil {
			return nil, errors.New("no board, so no default configuration")
		}
		cfg, faults := config.Parse(brd.Name+"/weir.toml", brd.DefaultConfig)
		if err := faults.Err(); err != nil {
			return nil, fmt.Errorf("the board's default configuration: %w", err)
		}
		return cfg, nil
	}
}

// choose judges the operator's file: the configuration, or why it cannot be
// used.
func choose(data []byte, err error) (*config.Config, []string) {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, []string{config.Path + " is missing: write one"}
	case err != nil:
		return nil, []string{err.Error()}
	case strings.TrimSpace(string(data)) == "":
		return nil, []string{config.Path + " is empty: write one"}
	}
	cfg, faults := config.Parse(config.Path, data)
	if len(faults) > 0 {
		return nil, faults.Lines()
	}
	return cfg, nil
}

func (b *boot) inForce(name string, reasons []string) {
	for _, r := range reasons {
		kmsg.Errorf("weir: configuration: %s", r)
	}
	if name == fromBoard {
		kmsg.Logf(kmsg.Warning, "weir: configuration: the board's default is in force")
	}
	b.update(func(r *report.Report) { r.Config, r.Faults = name, reasons })
}

func (b *boot) setHostname(cfg *config.Config) func(context.Context) error {
	return func(context.Context) error {
		name := "weir"
		if cfg != nil && cfg.Hostname != "" {
			name = cfg.Hostname
		}
		if err := unix.Sethostname([]byte(name)); err != nil {
			return fmt.Errorf("set the host name %q: %w", name, err)
		}
		b.update(func(r *report.Report) { r.Hostname = name })
		return nil
	}
}
