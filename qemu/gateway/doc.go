// Package gateway puts machine, lab and agent together: a board's real image,
// booted between the client and the server, with a way to ask it things.
//
// The image is as a user would flash it. Only /etc/weir.toml and the lab's
// agent are laid over it, and the agent is started by the kernel command line.
// Methods of a Gateway may be called from any goroutine. What is proven with it
// belongs to its callers.
package gateway
