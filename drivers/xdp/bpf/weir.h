/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-3-Clause) */
/* What the steering program shares with its Go half: reasons and map values. */
#ifndef WEIR_H
#define WEIR_H

/* Reasons, as in netstack/frame/reason.go (a Go test compares the two). Index 0
 * of the counters is what went to a worker. */
enum weir_reason {
	WEIR_NONE = 0,
	WEIR_NOT_IP,
	WEIR_TAGGED,
	WEIR_MULTICAST,
	WEIR_OTHER_HOST,
	WEIR_BAD_HEADER,
	WEIR_OPTIONS,
	WEIR_FRAGMENT,
	WEIR_EXT_HEADER,
	WEIR_TTL,
	WEIR_LOCAL,
	WEIR_SCOPE,
	WEIR_NO_ROUTE,
	WEIR_KERNEL_ROUTE,
	WEIR_NO_NEIGHBOUR,
	WEIR_TOO_BIG,
	WEIR_SAME_PORT,
	WEIR_PORT_SLOW,
	WEIR_OUT_SLOW,
	WEIR_LEASE,
	WEIR_NO_SOCKET,
	WEIR_REASONS = 32, /* slots of the counter array */
};

/* One port: the only entry of its program's map "port". */
struct weir_port {
	__u8 mac[6];
	__u8 fast4, fast6; /* families that may leave the kernel path */
	__u32 ifindex;
	__u32 max_len;     /* longest frame in bytes a worker's buffer holds */
	__u8 generic;      /* attached in generic mode: mind frames punted back */
	__u8 pad[7];
};

/* What all ports share: the only entry of the map "control". own4 is the set of
 * the router's own IPv4 addresses, one bit by hash each, so that a source
 * address costs a look-up only if it may be one of them. */
struct weir_control {
	__u64 own4;
};

/* A next hop, by id. */
struct weir_next_hop {
	__u32 reason; /* WEIR_NONE: forward; else leave it to the kernel */
	__u32 ifindex;
	__u32 mtu;    /* largest layer-3 packet, bytes */
	__u32 pad;
};

struct weir_key4 {
	__u32 prefixlen;
	__u8 addr[4];
};

struct weir_key6 {
	__u32 prefixlen;
	__u8 addr[16];
};

#endif
