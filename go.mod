module weir

go 1.26.0

require (
	github.com/ProtonMail/go-crypto v1.5.2 // signature of Debian's archive (images)
	github.com/cilium/ebpf v0.22.0 // loads the XDP program and its maps (drivers/xdp)
	github.com/gaissmai/bart v0.30.0 // prefix tables of the control path (netstack/mirror/rib)
	github.com/google/nftables v0.3.0 // reads which chains the kernel would ask (netstack/mirror/policy)
	github.com/klauspost/compress v1.20.4 // gzip of the initramfs, zstd of packages (images)
	github.com/pelletier/go-toml/v2 v2.4.3 // weir.toml, board.toml, the lock file, with positions
	github.com/safchain/ethtool v0.7.0 // drivers' names and channels
	github.com/u-root/gobusybox/src v0.0.0-20250101170133-2e884e4509c7 // builds u-root's commands into one binary (images)
	github.com/u-root/mkuimage v0.0.0-20250905073043-9a40452f5d3b // cpio archives (images)
	github.com/u-root/u-root v0.16.0 // the shell and commands in the image
	github.com/u-root/uio v0.0.0-20240224005618-d2acac8f3701 // the logger that mkuimage wants (images)
	github.com/ulikunitz/xz v0.5.17 // Debian's packages and kernel modules are .xz (images, init)
	github.com/vishvananda/netlink v1.3.1 // links, addresses, routes (drivers/port)
	golang.org/x/sys v0.50.0 // system calls
	golang.org/x/term v0.46.0 // progress on terminals (images)
)

require golang.org/x/sync v0.23.0

require (
	github.com/atotto/clipboard v0.1.4 // indirect
	github.com/aymanbagabas/go-osc52/v2 v2.0.1 // indirect
	github.com/cenkalti/backoff/v4 v4.1.3 // indirect
	github.com/charmbracelet/bubbles v0.15.1-0.20230123181021-a6a12c4a31eb // indirect
	github.com/charmbracelet/bubbletea v0.24.1 // indirect
	github.com/charmbracelet/lipgloss v0.7.1 // indirect
	github.com/cloudflare/circl v1.6.3 // indirect
	github.com/containerd/console v1.0.4-0.20230706203907-8f6c4e4faef5 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/knz/bubbline v0.0.0-20230717192058-486954f9953f // indirect
	github.com/lucasb-eyer/go-colorful v1.2.0 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/mattn/go-localereader v0.0.1 // indirect
	github.com/mattn/go-runewidth v0.0.14 // indirect
	github.com/mdlayher/netlink v1.11.2 // indirect
	github.com/mdlayher/socket v0.7.0 // indirect
	github.com/muesli/ansi v0.0.0-20230316100256-276c6243b2f6 // indirect
	github.com/muesli/cancelreader v0.2.2 // indirect
	github.com/muesli/reflow v0.3.0 // indirect
	github.com/muesli/termenv v0.15.1 // indirect
	github.com/peterh/liner v1.2.2 // indirect
	github.com/pierrec/lz4/v4 v4.1.22 // indirect
	github.com/rck/unit v0.0.3 // indirect
	github.com/rivo/uniseg v0.4.4 // indirect
	github.com/sahilm/fuzzy v0.1.0 // indirect
	github.com/u-root/cpuid v0.0.1-0.20250320140348-cc5fe81d966c // indirect
	github.com/vishvananda/netns v0.0.5 // indirect
	golang.org/x/crypto v0.57.0 // indirect
	golang.org/x/exp v0.0.0-20250305212735-054e65f0b394 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/net v0.59.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	golang.org/x/tools v0.49.0 // indirect
	mvdan.cc/sh/v3 v3.11.0 // indirect
	pack.ag/tftp v1.0.1-0.20181129014014-07909dfbde3c // indirect
)
