// Package agent runs commands in a guest for the host: the two halves of a
// small protocol over one byte stream (a virtio serial port, so neither echo
// nor kernel messages come between).
//
// A request or a response is one line of JSON. Responses may come in any order
// and carry their request's number, so that several commands run at a time. It
// imports the standard library only, since the guest's half is part of every
// test image. Client's methods may be called from any goroutine. Nothing that
// knows what the commands are for may be added here.
package agent
