/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies by words of 8: the compiler does not know that BPF may touch words
 * at any address and would go byte by byte.
 */
#ifndef _SRPOL_BENCH_WORDS_H
#define _SRPOL_BENCH_WORDS_H

static __always_inline void bench_copy(void *to, const void *from, int len)
{
	const __u64 *f = from;
	__u64 *t = to;
	int i;

#pragma unroll
	for (i = 0; i < len / 8; i++)
		t[i] = f[i];
}

#endif /* _SRPOL_BENCH_WORDS_H */
