/* SPDX-License-Identifier: GPL-2.0 */
/*
 * NEXT-CSID: the argument of an address, that is the CSIDs behind the active
 * one, RFC 9800 4.1.
 */
#ifndef _SRPOL_USID_H
#define _SRPOL_USID_H

#include "base.h"
#include "proto.h"

/* 128 bits in host order. */
struct srpol_bits {
	__u64 high;
	__u64 low;
};

static __always_inline struct srpol_bits
srpol_bits_load(const struct in6_addr *addr)
{
	const __be32 *w = addr->in6_u.u6_addr32;
	struct srpol_bits b = {
		.high = (__u64)bpf_ntohl(w[0]) << 32 | bpf_ntohl(w[1]),
		.low = (__u64)bpf_ntohl(w[2]) << 32 | bpf_ntohl(w[3]),
	};

	return b;
}

static __always_inline void srpol_bits_store(struct in6_addr *addr,
					     struct srpol_bits b)
{
	__be32 *w = addr->in6_u.u6_addr32;

	w[0] = bpf_htonl(b.high >> 32);
	w[1] = bpf_htonl(b.high);
	w[2] = bpf_htonl(b.low >> 32);
	w[3] = bpf_htonl(b.low);
}

/* The last 128 - @n bits of @b, the first @n bits set to 0; n <= 128. */
static __always_inline struct srpol_bits srpol_bits_after(struct srpol_bits b,
							  __u32 n)
{
	if (n >= 64) {
		b.high = 0;
		b.low = n < SRPOL_ADDR_BITS ? b.low & (~0ull >> (n & 63)) : 0;
	} else {
		b.high &= ~0ull >> n;
	}
	return b;
}

/* @b shifted left by @n bits, 0 < n < 128. */
static __always_inline struct srpol_bits srpol_bits_up(struct srpol_bits b,
						       __u32 n)
{
	if (n >= 64) {
		b.high = b.low << (n & 63);
		b.low = 0;
	} else {
		b.high = b.high << n | b.low >> (64 - n);
		b.low <<= n;
	}
	return b;
}

/* Is there another CSID behind that of this SID? */
static __always_inline bool srpol_usid_more(const struct in6_addr *addr,
					    const struct srpol_sid *sid)
{
	struct srpol_bits arg = srpol_bits_after(srpol_bits_load(addr),
						 sid->prefix_len);

	return arg.high | arg.low;
}

/**
 * srpol_usid_next - replace the active CSID of an address by the next one
 * @addr: address; the CSIDs behind the active one are shifted to the end of the
 *	block
 * @sid: SID whose CSID is the active one
 */
static __always_inline void srpol_usid_next(struct in6_addr *addr,
					    const struct srpol_sid *sid)
{
	struct srpol_bits all = srpol_bits_load(addr), arg, rest;

	rest = srpol_bits_after(all, sid->block_len);
	arg = srpol_bits_after(all, sid->prefix_len);
	arg = srpol_bits_up(arg, sid->prefix_len - sid->block_len);
	arg.high |= all.high ^ rest.high;
	arg.low |= all.low ^ rest.low;
	srpol_bits_store(addr, arg);
}

#endif /* _SRPOL_USID_H */
