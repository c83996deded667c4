// Package traffic sends UDP flows from one interface and checks every frame
// that arrives at another, as a router between them must have left it.
//
// Frames go out and come in over packet sockets, so no host stack has a say.
// Each carries its run, flow and number and a pattern made from them: what is
// lost, doubled, reordered or changed is known frame by frame, and a load can
// be repeated from its seed. One Sender and one Receiver may work at a time
// each on a goroutine of its own; the methods of one are not for several
// goroutines. It imports the standard library and x/sys only, and knows
// neither namespaces nor guests: End.Do brings it to where the interface is.
package traffic
