// Package xdp is the part of Weir that lives in the kernel: a small XDP program
// on every port, and the maps it reads.
//
// Today the program steers: it gives a frame that a worker can forward to the
// AF_XDP socket of its RX queue, and passes everything else to the kernel,
// untouched and counted by reason (bpf/weir.c). Tables are the maps that all
// ports share, Program is one port's instance, Punter hands a frame back.
//
// The program outlives the process: its link is pinned in bpffs, since on
// several drivers (mvpp2, mvneta) attaching and removing stops the port. A
// program whose lease has run out passes everything; the next forwarder
// replaces it by a link update, which does not touch the port.
//
// The package knows maps and links only: no routes' meaning, no netlink, and of
// netstack only frame. Tables may be written by one goroutine at a time;
// Program.Counters may be read by any.
package xdp
