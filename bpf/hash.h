/* SPDX-License-Identifier: GPL-2.0 */
/* Hashing. */
#ifndef _SRPOL_HASH_H
#define _SRPOL_HASH_H

#include "base.h"
#include "srpol_hash.h"

/* Hash of the addresses, the protocol and a word of ports. */
static __always_inline __u32 srpol_hash_tuple(const __u8 *saddr,
					      const __u8 *daddr, __u32 proto,
					      __u32 ports)
{
	const __u32 *s = (const __u32 *)saddr;
	const __u32 *d = (const __u32 *)daddr;
	__u32 a, b, c;

	a = SRPOL_JHASH_INIT + 40;
	b = a;
	c = a;
	a += s[0];
	b += s[1];
	c += s[2];
	SRPOL_JHASH_MIX(a, b, c);
	a += s[3];
	b += d[0];
	c += d[1];
	SRPOL_JHASH_MIX(a, b, c);
	a += d[2];
	b += d[3];
	c += ports;
	SRPOL_JHASH_MIX(a, b, c);
	a += proto;
	SRPOL_JHASH_FINAL(a, b, c);
	return c;
}

/*
 * srpol_hash2(), out of line: for loops, and where the caller's stack is nearly used
 * up. Global, so that the verifier checks it once.
 */
__noinline __u32 srpol_hash2_apart(__u32 x, __u32 y)
{
	return srpol_hash2(x, y);
}

#endif /* _SRPOL_HASH_H */
