// Package machine runs one guest under QEMU: it starts the process with a
// kernel, an initramfs and extra parts of it, follows the consoles, and ends it.
//
// It knows nothing of the networks that its interfaces are wired to (package
// lab makes those) nor of what runs in the guest. A Machine's methods may be
// called from any goroutine. The QEMU process dies with the process that
// started it. Nothing that needs root may be added here.
package machine
