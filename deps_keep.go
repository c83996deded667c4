//go:build tools

package tools

import (
	_ "github.com/ProtonMail/go-crypto/openpgp"
	_ "github.com/cilium/ebpf/link"
	_ "github.com/gaissmai/bart"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/nftables"
	_ "github.com/klauspost/compress/gzip"
	_ "github.com/mdlayher/netlink"
	_ "github.com/mdlayher/packet"
	_ "github.com/pelletier/go-toml/v2"
	_ "github.com/safchain/ethtool"
	_ "github.com/u-root/mkuimage/uimage"
	_ "github.com/ulikunitz/xz"
	_ "github.com/vishvananda/netlink"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
)
