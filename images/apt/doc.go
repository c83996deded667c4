// Package apt finds the Debian mirror that this machine's apt is configured to
// use, so that the image builder fetches from where the machine's owner decided
// and the project names no mirror.
//
// It reads /etc/apt/sources.list, sources.list.d/*.list (sources.list(5),
// one-line style) and sources.list.d/*.sources (deb822 style). It imports the
// standard library; parsing is pure. Running apt, or any network access, never
// belongs here.
package apt
