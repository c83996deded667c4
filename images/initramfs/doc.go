// Package initramfs assembles the archive that the kernel unpacks as its first
// root: a newc cpio, compressed with gzip, optionally followed by a second,
// plain one (Documentation/driver-api/early-userspace/buffer-format.rst).
//
// The bytes depend on the names, modes and contents that were added and on
// nothing else: not on the order of adding, the clock, the user, the umask, the
// file system or the folder. Entries are sorted by name, inodes count from 1,
// owner and times are 0, gzip has no name and no time.
//
// It imports the standard library, mkuimage's cpio and the gzip writer. What
// belongs into an image is decided by its callers. An Archive is for one
// goroutine.
package initramfs
