/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SipHash-2-4 (Aumasson, Bernstein 2012) of messages that are whole words of 8
 * bytes.
 */
#ifndef _SRPOL_SIPHASH_H
#define _SRPOL_SIPHASH_H

#include "base.h"

struct srpol_sip {
	__u64 v0, v1, v2, v3;
};

static __always_inline __u64 srpol_rol64(__u64 v, int n)
{
	return v << n | v >> (64 - n);
}

static __always_inline void srpol_sip_round(struct srpol_sip *s)
{
	s->v0 += s->v1;
	s->v1 = srpol_rol64(s->v1, 13) ^ s->v0;
	s->v0 = srpol_rol64(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = srpol_rol64(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = srpol_rol64(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = srpol_rol64(s->v1, 17) ^ s->v2;
	s->v2 = srpol_rol64(s->v2, 32);
}

static __always_inline void srpol_sip_word(struct srpol_sip *s, __u64 word)
{
	s->v3 ^= word;
	srpol_sip_round(s);
	srpol_sip_round(s);
	s->v0 ^= word;
}

#ifdef __BIG_ENDIAN__
#define srpol_le64(v)	__builtin_bswap64(v)
#else
#define srpol_le64(v)	(v)
#endif

static __always_inline struct srpol_sip srpol_sip_init(const __u64 *k)
{
	__u64 k0 = srpol_le64(k[0]), k1 = srpol_le64(k[1]);
	struct srpol_sip s = {
		.v0 = k0 ^ 0x736f6d6570736575ull,
		.v1 = k1 ^ 0x646f72616e646f6dull,
		.v2 = k0 ^ 0x6c7967656e657261ull,
		.v3 = k1 ^ 0x7465646279746573ull,
	};

	return s;
}

/* The last word of the message has no bytes left to hold, only the length. */
static __always_inline __u64 srpol_sip_end(struct srpol_sip *s, __u64 len)
{
	srpol_sip_word(s, len << 56);
	s->v2 ^= 0xff;
	srpol_sip_round(s);
	srpol_sip_round(s);
	srpol_sip_round(s);
	srpol_sip_round(s);
	return srpol_le64(s->v0 ^ s->v1 ^ s->v2 ^ s->v3);
}

/**
 * srpol_siphash16 - tag of a message of 16 bytes
 * @k: key, as in memory
 * @m: message, as in memory
 *
 * Return: the tag, as it has to be in memory.
 */
static __always_inline __u64 srpol_siphash16(const __u64 *k, const __u64 *m)
{
	struct srpol_sip s = srpol_sip_init(k);

	srpol_sip_word(&s, srpol_le64(m[0]));
	srpol_sip_word(&s, srpol_le64(m[1]));
	return srpol_sip_end(&s, 16);
}

#endif /* _SRPOL_SIPHASH_H */
