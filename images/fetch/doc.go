// Package fetch brings pinned packages onto this machine: from the cache, from
// the mirror, or from a snapshot archive, whichever has the bytes that the pin's
// SHA-256 names. It also asks a mirror's signed index what the newest version is.
//
// It imports images/apt, archive, cache, lock and progress. What an image needs,
// and whether an unpinned version is acceptable, is decided by its callers.
package fetch
