/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hashing of words, for the eBPF programs and for programs that read their
 * maps.
 */
#ifndef _SRPOL_HASH_WORDS_H
#define _SRPOL_HASH_WORDS_H

static inline __attribute__((always_inline)) __u32 srpol_rol(__u32 v, int n)
{
	return v << n | v >> (32 - n);
}

/* Bob Jenkins' lookup3, as in the kernel's jhash. */
#define SRPOL_JHASH_MIX(a, b, c)					\
	do {								\
		a -= c; a ^= srpol_rol(c, 4);  c += b;			\
		b -= a; b ^= srpol_rol(a, 6);  a += c;			\
		c -= b; c ^= srpol_rol(b, 8);  b += a;			\
		a -= c; a ^= srpol_rol(c, 16); c += b;			\
		b -= a; b ^= srpol_rol(a, 19); a += c;			\
		c -= b; c ^= srpol_rol(b, 4);  b += a;			\
	} while (0)

#define SRPOL_JHASH_FINAL(a, b, c)					\
	do {								\
		c ^= b; c -= srpol_rol(b, 14);				\
		a ^= c; a -= srpol_rol(c, 11);				\
		b ^= a; b -= srpol_rol(a, 25);				\
		c ^= b; c -= srpol_rol(b, 16);				\
		a ^= c; a -= srpol_rol(c, 4);				\
		b ^= a; b -= srpol_rol(a, 14);				\
		c ^= b; c -= srpol_rol(b, 24);				\
	} while (0)

#define SRPOL_JHASH_INIT	0xdeadbeef

/*
 * Hash of two words. The search for another path than one that is down uses it,
 * too.
 */
static inline __attribute__((always_inline)) __u32 srpol_hash2(__u32 x, __u32 y)
{
	__u32 a = SRPOL_JHASH_INIT + 8 + x;
	__u32 b = SRPOL_JHASH_INIT + 8 + y;
	__u32 c = SRPOL_JHASH_INIT + 8;

	SRPOL_JHASH_FINAL(a, b, c);
	return c;
}

#endif /* _SRPOL_HASH_WORDS_H */
