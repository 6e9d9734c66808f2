/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory access by words of 8 bytes. The compiler does not know that BPF may
 * access words at any address, and would copy byte by byte, with two
 * instructions for each, whatever may not be aligned.
 */
#ifndef _SRPOL_WORDS_H
#define _SRPOL_WORDS_H

#include "base.h"

/*
 * Copy @len bytes, a constant. What is beyond the last whole word is not
 * copied.
 */
static __always_inline void srpol_copy_words(void *to, const void *from,
					     const __u32 len)
{
	const __u64 *f = from;
	__u64 *t = to;
	__u32 i;

#pragma unroll
	for (i = 0; i < len / sizeof(__u64); i++)
		t[i] = f[i];
}

/*
 * Copy an IPv6 address, by words of 4 bytes: on the stack, words of 8 bytes
 * must be at a multiple of 8.
 */
static __always_inline void srpol_copy_addr(void *to, const void *from)
{
	const __u32 *f = from;
	__u32 *t = to;

	t[0] = f[0];
	t[1] = f[1];
	t[2] = f[2];
	t[3] = f[3];
}

/* The two addresses of an Ethernet header, 12 bytes. */
struct srpol_macs {
	__u64 first;
	__u32 last;
};

static __always_inline struct srpol_macs srpol_macs_load(const void *eth)
{
	struct srpol_macs m = {
		.first = *(const __u64 *)eth,
		.last = *(const __u32 *)(eth + sizeof(__u64)),
	};

	return m;
}

static __always_inline void srpol_macs_store(void *eth, struct srpol_macs m)
{
	*(__u64 *)eth = m.first;
	*(__u32 *)(eth + sizeof(__u64)) = m.last;
}

/* Swap source and destination. Words are in little-endian order. */
static __always_inline struct srpol_macs srpol_macs_swap(struct srpol_macs m)
{
	struct srpol_macs back = {
		.first = m.first >> 48 | (__u64)m.last << 16 | m.first << 48,
		.last = m.first >> 16,
	};

	return back;
}

#endif /* _SRPOL_WORDS_H */
