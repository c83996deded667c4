// Package mirror turns the kernel's forwarding state into snapshots: routes,
// neighbours, addresses and interfaces by rtnetlink, and the reasons against the
// fast path by package policy.
//
// It starts with a full dump, follows the kernel's events, and dumps again where
// events cannot tell the state: after lost events (ENOBUFS), where the kernel
// changes tables without saying so (IPv4 routes of an interface that went down),
// and where several routes share one key. Snapshots are published at most every
// two milliseconds while events pour in, and at once when they do not.
//
//	nl      sockets, requests, dumps, framing
//	rtnl    message bodies → values
//	rib     values → table and next hops (pure)
//	policy  everything else that the kernel would ask → reasons
//
// New must run in the network namespace to be mirrored; from then on the mirror
// stays there whatever threads its callers run on. Run is for one goroutine;
// Current, Confirm and Stats are safe from any. The mirror reads; the only thing
// it ever tells the kernel is that a neighbour is in use (Confirm). Nothing that
// touches frames belongs here.
package mirror
