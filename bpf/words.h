/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory by words of 8. The compiler does not know that BPF may touch words at
 * any address, and goes byte by byte through whatever may not be aligned: two
 * instructions a byte.
 */
#ifndef _SRPOL_WORDS_H
#define _SRPOL_WORDS_H

#include "base.h"

/* @len: a constant; what is beyond the last whole word stays as it was. */
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
 * An IPv6 address. By words of 4: on the stack nothing else may be at an
 * address that is not a multiple of 8.
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

/* The addresses of an Ethernet header, 12 bytes. */
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

/* Back to where the frame came from; words are in the order of little endian. */
static __always_inline struct srpol_macs srpol_macs_swap(struct srpol_macs m)
{
	struct srpol_macs back = {
		.first = m.first >> 48 | (__u64)m.last << 16 | m.first << 48,
		.last = m.first >> 16,
	};

	return back;
}

#endif /* _SRPOL_WORDS_H */
