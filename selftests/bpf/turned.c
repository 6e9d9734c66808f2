// SPDX-License-Identifier: GPL-2.0
#include <sodium.h>
#include <string.h>

#include "stamp.h"
#include "turned.h"

#define SEC	STAMP_SEC

uint8_t turned_key[crypto_shorthash_KEYBYTES];
uint64_t turned_epoch;

uint32_t get32(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
}

uint64_t get64(const uint8_t *b)
{
	return (uint64_t)get32(b) << 32 | get32(b + 4);
}

uint64_t get_ns(const uint8_t *b)
{
	return get32(b) * SEC + get32(b + 4);
}

void put16(uint8_t *b, uint16_t v)
{
	b[0] = v >> 8;
	b[1] = v;
}

void put32(uint8_t *b, uint32_t v)
{
	put16(b, v >> 16);
	put16(b + 2, v);
}

void put64(uint8_t *b, uint64_t v)
{
	put32(b, v >> 32);
	put32(b + 4, v);
}

void turned_sign(struct pkt *p, const uint8_t *k)
{
	uint8_t m[SIGNED + 16 * N];

	memcpy(m, p->b + STAMP, SIGNED);
	memcpy(m + SIGNED, p->b + SRH + 8, 16 * N);
	crypto_shorthash(p->b + STAMP + SIGNED, m, sizeof(m), k);
}

uint16_t turned_sum(const struct pkt *p)
{
	uint8_t pseudo[8] = {};
	uint32_t sum;

	put32(pseudo, p->len - UDP);
	pseudo[7] = 17;
	sum = csum_add(0, p->b + SOURCE, 16);
	/* RFC 8200 8.1: the final destination */
	sum = csum_add(sum, p->b + SRH + 8, 16);
	sum = csum_add(sum, pseudo, sizeof(pseudo));
	return ~csum_fold(csum_add(sum, p->b + UDP, p->len - UDP));
}

static void set_sum(struct pkt *p)
{
	put16(p->b + UDP + 6, 0);
	put16(p->b + UDP + 6, ~turned_sum(p));
}

void turned_frame(struct pkt *p, const struct ask *a)
{
	struct in6_addr list[N];
	struct outer o = {
		.src = a->src, .sids = list, .n = N, .full = true,
		.travelled = TURN, .tclass = a->tclass,
		.hop_limit = a->hop_limit ?: 61,
	};
	uint32_t len = 8 + SIGNED + 8 + a->padding, i;

	for (i = 0; i < N; i++)
		list[i] = sid(HOP + i);
	list[TURN] = sid(REFLECT);
	list[N - 1] = a->last;
	memset(p, 0, sizeof(*p));
	pkt_add_eth(p, pkt_link_macs, 0x86dd);
	pkt_add_outer(p, &o, len, IPPROTO_UDP);
	stamp_add(p, len, a->seq, a->sent_ns, INDEX);
	pkt_add8(p, 0);
	pkt_add8(p, 253);
	pkt_add16(p, 40);
	pkt_add32(p, turned_epoch >> 32);
	pkt_add32(p, turned_epoch);
	pkt_add32(p, a->path);
	pkt_add32(p, a->list);
	for (i = 0; i < 16 + 8 + a->padding; i++)
		pkt_add8(p, 0);
	turned_sign(p, a->key);
	set_sum(p);
}

struct ask turned_ask(uint32_t seq)
{
	return (struct ask){
		.src = PEER, .last = sid(THEIRS), .seq = seq,
		.sent_ns = 5 * SEC + seq, .tclass = 2, .key = turned_key,
	};
}

void turned_want(struct pkt *want, const struct pkt *in, const struct pkt *out,
		 uint32_t count, uint64_t ce, uint64_t path_ce)
{
	uint8_t *t = want->b + STAMP;
	struct in6_addr next = sid(HOP + TURN + 1);

	*want = *in;
	memcpy(want->b, in->b + 6, 6);
	memcpy(want->b + 6, in->b, 6);
	want->b[IP + 1] = (in->b[IP + 1] & 0x0f) | (in->b[IP + 1] & 0xc0) |
			  2 << 4;
	want->b[IP + 7]--;
	memcpy(want->b + DEST, &next, 16);
	want->b[SRH + 3]--;
	put32(t, count);
	memcpy(t + 4, out->b + STAMP + 4, 8);
	memcpy(t + 16, out->b + STAMP + 16, 8);
	memcpy(t + 24, in->b + STAMP, 12);	/* number and time */
	memcpy(t + 36, in->b + STAMP + 12, 2);
	t[40] = in->b[IP + 7];
	t[45] = 254;
	put64(t + 64, path_ce);
	put64(t + 72, ce);
	turned_sign(want, turned_key);
	set_sum(want);
}

void turned_back(struct pkt *p, uint32_t seq, uint64_t sent_ns,
		 uint64_t there_ns, uint64_t back_ns, uint32_t count,
		 uint64_t ce, uint64_t path_ce)
{
	struct ask a = {
		.src = SELF, .last = sid(PROBE), .seq = count,
		.sent_ns = back_ns, .tclass = 2, .key = turned_key,
	};
	struct in6_addr last = sid(PROBE);
	uint8_t *t = p->b + STAMP;

	turned_frame(p, &a);
	memcpy(p->b + DEST, &last, 16);
	p->b[SRH + 3] = 0;
	put32(t + 16, there_ns / SEC);
	put32(t + 20, there_ns % SEC);
	put32(t + 24, seq);
	put32(t + 28, sent_ns / SEC);
	put32(t + 32, sent_ns % SEC);
	put16(t + 36, 0x4001);
	t[40] = 62;
	t[45] = 254;
	put64(t + 64, path_ce);
	put64(t + 72, ce);
	turned_sign(p, turned_key);
	set_sum(p);
}
