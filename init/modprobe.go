package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"weir/board"
	"weir/init/cmdline"
	"weir/init/kmsg"
	"weir/init/modules"
)

// modprobePath is a link to init, by which the kernel asks for modules.
const modprobePath = "/sbin/modprobe"

// loader returns a Loader of the running kernel's modules.
func loader(line cmdline.Line) (*modules.Loader, error) {
	dir := "/lib/modules/" + uname().release
	index, err := modules.ReadIndex(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	return &modules.Loader{Index: index, Insert: modules.Kernel(dir), Params: line.ModuleParams}, nil
}

// loadModules loads what the devices ask for, then what the board wants, then
// what the devices ask for that came with it.
func (b *boot) loadModules(brd *board.Board, line cmdline.Line) func(context.Context) error {
	return func(ctx context.Context) error {
		l, err := loader(line)
		if err != nil {
			return err
		}
		errs := []error{l.Coldplug(ctx, modules.Sys())}
		if brd != nil {
			before := len(l.Loaded())
			for _, m := range brd.Modules {
				errs = append(errs, l.Load(ctx, m))
			}
			if len(l.Loaded()) > before {
				errs = append(errs, l.Coldplug(ctx, modules.Sys()))
			}
		}
		kmsg.Infof("weir: %d modules loaded", len(l.Loaded()))
		return errors.Join(errs...)
	}
}

// modprobe serves the kernel's requests, "modprobe -q -- NAME"
// (kernel/module/kmod.c): a name or an alias such as "nft-expr-masq".
func modprobe(args []string) int {
	text, _ := os.ReadFile("/proc/cmdline")
	l, err := loader(cmdline.Parse(string(text)))
	if err != nil {
		return 1
	}
	status := 0
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			continue
		}
		names := l.Index.Match(a)
		if len(names) == 0 && !l.Index.Known(a) {
			status = 1
		}
		for _, n := range names {
			if err := l.Load(context.Background(), n); err != nil {
				kmsg.Errorf("weir: asked by the kernel: %v", err)
				status = 1
			}
		}
	}
	return status
}
