// SPDX-License-Identifier: (GPL-2.0-only OR BSD-3-Clause)
/*
 * The steering program: one instance on every port. It gives a frame to the
 * worker of its RX queue if a worker can forward it, and passes everything else
 * to the kernel, untouched, counted by reason. It never drops and never writes
 * to the frame: the worker looks at the same snapshot once more and decides.
 *
 * It has to outlive the forwarder: without a lease that is renewed, or without
 * a socket on the queue, it passes everything.
 *
 * Written for the 32-bit ARM JIT too: one function, no atomic operation, no
 * call between BPF functions, no kfunc (arch/arm/net/bpf_jit_32.c, v6.12).
 */
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "weir.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct weir_port);
} port SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct weir_control);
} control SEC(".maps");

/* CLOCK_MONOTONIC nanoseconds until which the workers are known to be alive. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lease SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, struct weir_key4);
	__type(value, __u32);
} routes4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, struct weir_key6);
	__type(value, __u32);
} routes6 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << 16);
	__type(key, __u32);
	__type(value, struct weir_next_hop);
} next_hops SEC(".maps");

/* The router's own IPv4 addresses, in network byte order. Of IPv6 the kernel
 * does not ask whether a packet comes from an own address. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
} own4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WEIR_REASONS);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps");

/* Set while a punted frame is on its way up on this CPU; see punt below. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} punting SEC(".maps");

#define ETH_HLEN 14
#define ETH_IPV4 0x0800
#define ETH_IPV6 0x86dd
#define ETH_8021Q 0x8100
#define ETH_8021AD 0x88a8

/* Spreads an address over the 64 bits of weir_control.own4; see ownBit in Go. */
static __always_inline __u64 own_bit(__u32 a)
{
	return 1ULL << ((a * 0x9e3779b1U) >> 26);
}

SEC("xdp")
int weir_steer(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data, *end = (__u8 *)(long)ctx->data_end;
	__u32 zero = 0, reason = WEIR_NONE, len, layer3, *id;
	struct weir_control *c;
	struct weir_next_hop *nh;
	struct weir_port *p;
	__u64 *until, *count;
	__u16 type;
	int verdict = XDP_PASS;

	p = bpf_map_lookup_elem(&port, &zero);
	c = bpf_map_lookup_elem(&control, &zero);
	until = bpf_map_lookup_elem(&lease, &zero);
	if (!p || !c || !until)
		return XDP_PASS; /* cannot happen: arrays */

	if (p->generic) {
		__u32 *up = bpf_map_lookup_elem(&punting, &zero);

		if (up && *up) { /* a worker has already said no to it */
			*up = 0;
			return XDP_PASS;
		}
	}
	if (bpf_ktime_get_coarse_ns() > *until) {
		reason = WEIR_LEASE;
		goto out;
	}
	if (data + ETH_HLEN > end) {
		reason = WEIR_BAD_HEADER;
		goto out;
	}
	/* Lengths from the wire are compared as numbers, not as pointers: the verifier
	 * of v6.12 knows no bounds of a swapped word. */
	len = end - data;
	type = bpf_ntohs(*(__u16 *)(data + 12));
	if (*(__u16 *)data != *(__u16 *)p->mac || *(__u16 *)(data + 2) != *(__u16 *)(p->mac + 2) ||
	    *(__u16 *)(data + 4) != *(__u16 *)(p->mac + 4)) {
		reason = data[0] & 1 ? WEIR_MULTICAST : WEIR_OTHER_HOST;
		goto out;
	}

	if (type == ETH_IPV4) {
		__u8 *ip = data + ETH_HLEN;
		struct weir_key4 key = { .prefixlen = 32 };
		__u16 *w = (__u16 *)ip;
		__u32 sum, src, dst;

		if (!p->fast4) {
			reason = WEIR_PORT_SLOW;
			goto out;
		}
		if (ip + 20 > end || ip[0] >> 4 != 4 || (ip[0] & 15) < 5) {
			reason = WEIR_BAD_HEADER;
			goto out;
		}
		if (ip[0] != 0x45) {
			reason = WEIR_OPTIONS;
			goto out;
		}
		layer3 = bpf_ntohs(w[1]);
		if (layer3 < 20 || layer3 > len - ETH_HLEN) {
			reason = WEIR_BAD_HEADER;
			goto out;
		}
		sum = w[0] + w[1] + w[2] + w[3] + w[4] + w[5] + w[6] + w[7] + w[8] + w[9];
		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		if (sum != 0xffff) {
			reason = WEIR_BAD_HEADER;
			goto out;
		}
		if (w[3] & bpf_htons(0x3fff)) { /* more fragments, offset */
			reason = WEIR_FRAGMENT;
			goto out;
		}
		if (ip[8] < 2) {
			reason = WEIR_TTL;
			goto out;
		}
		/* net/ipv4/route.c, ip_route_input_slow: martians */
		if (ip[12] == 0 || ip[12] == 127 || ip[12] >> 4 == 14 || ip[16] == 0 || ip[16] == 127 ||
		    ip[16] >> 4 == 14) {
			reason = WEIR_SCOPE;
			goto out;
		}
		src = w[6] | (__u32)w[7] << 16;
		dst = w[8] | (__u32)w[9] << 16;
		if (src == 0xffffffff || dst == 0xffffffff) {
			reason = WEIR_SCOPE;
			goto out;
		}
		if (c->own4 & own_bit(src) && bpf_map_lookup_elem(&own4, &src)) {
			reason = WEIR_LOCAL;
			goto out;
		}
		__builtin_memcpy(key.addr, &dst, 4);
		id = bpf_map_lookup_elem(&routes4, &key);
	} else if (type == ETH_IPV6) {
		__u8 *ip = data + ETH_HLEN;
		struct weir_key6 key = { .prefixlen = 128 };
		__u32 s[4];

		if (!p->fast6) {
			reason = WEIR_PORT_SLOW;
			goto out;
		}
		if (ip + 40 > end || ip[0] >> 4 != 6) {
			reason = WEIR_BAD_HEADER;
			goto out;
		}
		layer3 = 40 + bpf_ntohs(*(__u16 *)(ip + 4));
		if (layer3 > len - ETH_HLEN) {
			reason = WEIR_BAD_HEADER;
			goto out;
		}
		switch (ip[6]) {
		case 0:   /* hop-by-hop options */
		case 43:  /* routing */
		case 44:  /* fragment */
		case 51:  /* authentication */
		case 60:  /* destination options */
		case 135: /* mobility */
		case 139: /* HIP */
		case 140: /* Shim6 */
			reason = WEIR_EXT_HEADER;
			goto out;
		}
		if (ip[7] < 2) {
			reason = WEIR_TTL;
			goto out;
		}
		__builtin_memcpy(s, ip + 8, 16);
		__builtin_memcpy(key.addr, ip + 24, 16);
		/* net/ipv6/ip6_input.c, ip6_rcv_core, and ip6_output.c, ip6_forward: what is
		 * under ::/64 (unspecified, loopback, v4-mapped), link-local, multicast */
		if ((s[0] == 0 && s[1] == 0) || ip[8] == 0xff || (ip[8] == 0xfe && (ip[9] & 0xc0) == 0x80) ||
		    ip[24] == 0xff || (ip[24] == 0xfe && (ip[25] & 0xc0) == 0x80) ||
		    (*(__u16 *)(ip + 24) == 0 && *(__u16 *)(ip + 26) == 0 && *(__u16 *)(ip + 28) == 0 &&
		     *(__u16 *)(ip + 30) == 0)) {
			reason = WEIR_SCOPE;
			goto out;
		}
		id = bpf_map_lookup_elem(&routes6, &key);
	} else {
		reason = type == ETH_8021Q || type == ETH_8021AD ? WEIR_TAGGED : WEIR_NOT_IP;
		goto out;
	}

	if (!id) {
		reason = WEIR_NO_ROUTE;
		goto out;
	}
	nh = bpf_map_lookup_elem(&next_hops, id);
	if (!nh) {
		reason = WEIR_KERNEL_ROUTE;
		goto out;
	}
	if (nh->reason) {
		reason = nh->reason;
		goto out;
	}
	if (nh->ifindex == p->ifindex) {
		reason = WEIR_SAME_PORT;
		goto out;
	}
	if (layer3 > nh->mtu || len > p->max_len) {
		reason = WEIR_TOO_BIG;
		goto out;
	}
	verdict = bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_PASS);
	if (verdict != XDP_REDIRECT)
		reason = WEIR_NO_SOCKET;
out:
	reason &= WEIR_REASONS - 1;
	count = bpf_map_lookup_elem(&counters, &reason);
	if (count)
		*count += 1;
	return verdict;
}

/*
 * Run by BPF_PROG_TEST_RUN in live-frames mode, with the ingress port in its
 * context: hands a frame that a worker does not forward to the kernel as if it
 * had just arrived. In generic mode the steering program would see it again, on
 * this very CPU and before anything else: hence the mark.
 */
SEC("xdp")
int weir_punt(struct xdp_md *ctx)
{
	__u32 zero = 0, *up = bpf_map_lookup_elem(&punting, &zero);

	if (up)
		*up = 1;
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
