// Package nl is a netlink socket and the framing on it: requests, dumps that
// are repeated until they are consistent, multicast events, and attributes read
// in place.
//
// It knows sockets, headers and attributes only; what a message means is the
// business of its users (rtnl, policy). It exists beside the netlink libraries
// because the mirror needs three things of them at once: no allocation per
// route, a loss of events as an error that can be told apart (ErrOverrun), and
// dumps whose NLM_F_DUMP_INTR is never overlooked.
//
// A Conn belongs to the network namespace of the thread that called Dial, for
// good. One goroutine may use it at a time, except that Close may be called from
// any. Imports: standard library and golang.org/x/sys/unix.
package nl
