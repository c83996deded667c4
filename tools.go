//go:build tools

// The commands of u-root that images/cmd/weir-image builds into the image, and
// the generator of the XDP bindings. The file is never compiled: it makes
// go.sum cover what those builds need.
package tools

import (
	_ "github.com/cilium/ebpf/cmd/bpf2go"
	_ "github.com/u-root/u-root/cmds/core/dd"
	_ "github.com/u-root/u-root/cmds/core/dmesg"
	_ "github.com/u-root/u-root/cmds/core/gosh"
	_ "github.com/u-root/u-root/cmds/core/ip"
	_ "github.com/u-root/u-root/cmds/core/ls"
	_ "github.com/u-root/u-root/cmds/core/mount"
	_ "github.com/u-root/u-root/cmds/core/ping"
	_ "github.com/u-root/u-root/cmds/core/ps"
	_ "github.com/u-root/u-root/cmds/core/wget"
)
