// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "packet.h"

/* To lo, the device of BPF_PROG_TEST_RUN. */
const uint8_t pkt_host_macs[12] = {
	0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0x0b
};

const uint8_t pkt_link_macs[12] = {
	0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0x01
};

void pkt_add(struct pkt *p, const void *data, uint32_t len)
{
	if (p->len + len > PKT_MAX)
		abort();
	memcpy(p->b + p->len, data, len);
	p->len += len;
}

void pkt_add8(struct pkt *p, uint8_t v)
{
	pkt_add(p, &v, 1);
}

void pkt_add16(struct pkt *p, uint16_t v)
{
	v = htons(v);
	pkt_add(p, &v, 2);
}

void pkt_add32(struct pkt *p, uint32_t v)
{
	v = htonl(v);
	pkt_add(p, &v, 4);
}

void pkt_add_hex(struct pkt *p, const char *hex)
{
	unsigned int v;

	for (; *hex; hex += 2) {
		if (sscanf(hex, "%2x", &v) != 1)
			abort();
		pkt_add8(p, v);
	}
}

void pkt_add_eth(struct pkt *p, const uint8_t *macs, uint16_t proto)
{
	pkt_add(p, macs, 12);
	pkt_add16(p, proto);
}

struct in6_addr addr(const char *text)
{
	struct in6_addr a = {};

	if (strchr(text, ':')) {
		if (inet_pton(AF_INET6, text, &a) != 1)
			abort();
		return a;
	}
	a.s6_addr[10] = 0xff;
	a.s6_addr[11] = 0xff;
	if (inet_pton(AF_INET, text, a.s6_addr + 12) != 1)
		abort();
	return a;
}

struct in6_addr sid(unsigned int i)
{
	char text[32];

	snprintf(text, sizeof(text), "fc00:0:%x::", i);
	return addr(text);
}

uint32_t csum_add(uint32_t sum, const void *data, uint32_t len)
{
	const uint8_t *b = data;
	uint64_t s = sum;
	uint32_t i;

	for (i = 0; i < len; i++)
		s += i & 1 ? b[i] : b[i] << 8;
	while (s >> 32)
		s = (s & 0xffffffff) + (s >> 32);
	return s;
}

uint16_t csum_fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

uint32_t icrc(const uint8_t *ip, uint32_t len)
{
	uint32_t i, crc = 0xffffffff, l4;
	uint8_t m[PKT_MAX + 8];
	int bit;

	len -= 4;
	memset(m, 0xff, 8);
	memcpy(m + 8, ip, len);
	if (ip[0] >> 4 == 4) {
		m[8 + 1] = 0xff;
		m[8 + 8] = 0xff;
		m[8 + 10] = 0xff;
		m[8 + 11] = 0xff;
		l4 = (ip[0] & 15) * 4;
	} else {
		m[8] |= 0x0f;
		m[9] = 0xff;
		m[10] = 0xff;
		m[11] = 0xff;
		m[8 + 7] = 0xff;
		l4 = 40;
	}
	m[8 + l4 + 6] = 0xff;
	m[8 + l4 + 7] = 0xff;
	m[8 + l4 + 8 + 4] = 0xff;
	for (i = 0; i < len + 8; i++) {
		crc ^= m[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return __builtin_bswap32(~crc);
}

static void add_transport(struct pkt *p, const struct inner *in, uint8_t proto)
{
	uint32_t i;

	if (in->frag_off)
		goto payload;
	switch (proto) {
	case IPPROTO_UDP:
		pkt_add16(p, in->sport);
		pkt_add16(p, in->roce ? 4791 : in->dport);
		pkt_add16(p, 8 + (in->roce ? 12 + 4 : 0) + in->payload);
		pkt_add16(p, 0);
		if (!in->roce)
			break;
		pkt_add8(p, in->opcode);
		pkt_add8(p, 0);
		pkt_add16(p, in->pkey);
		pkt_add32(p, in->qp);
		pkt_add32(p, in->psn ? in->psn : 0x80000001);
		break;
	case IPPROTO_TCP:
		pkt_add16(p, in->sport);
		pkt_add16(p, in->dport);
		pkt_add32(p, 1);
		pkt_add32(p, 1);
		pkt_add16(p, 0x5010);
		pkt_add16(p, 0xffff);
		pkt_add32(p, 0);
		break;
	default:
		pkt_add8(p, in->first_byte);
		for (i = 1; i < 8; i++)
			pkt_add8(p, 0);
	}
payload:
	for (i = 0; i < in->payload; i++)
		pkt_add8(p, !i && in->syndrome ? in->syndrome : i);
}

static void add_v4(struct pkt *p, const struct inner *in, uint8_t proto,
		   const struct in6_addr *s, const struct in6_addr *d)
{
	uint32_t ihl = 20 + 4 * in->options, start = p->len, i;
	uint16_t sum;

	pkt_add8(p, 0x40 | ihl / 4);
	pkt_add8(p, in->tclass);
	pkt_add16(p, 0);
	pkt_add16(p, 0x1234);
	if (in->frag_off || in->more)
		pkt_add16(p, (in->more ? 0x2000 : 0) | in->frag_off);
	else
		pkt_add16(p, 0x4000);
	pkt_add8(p, in->ttl ? in->ttl : 64);
	pkt_add8(p, proto);
	pkt_add16(p, 0);
	pkt_add(p, s->s6_addr + 12, 4);
	pkt_add(p, d->s6_addr + 12, 4);
	for (i = 0; i < 4u * in->options; i++)
		pkt_add8(p, 1);		/* no operation */
	add_transport(p, in, proto);
	if (in->roce)
		pkt_add32(p, 0);
	p->b[start + 2] = (p->len - start) >> 8;
	p->b[start + 3] = p->len - start;
	sum = htons(csum_fold(csum_add(0, p->b + start, ihl)));
	memcpy(p->b + start + 10, &sum, 2);
}

static void add_v6(struct pkt *p, const struct inner *in, uint8_t proto,
		   const struct in6_addr *s, const struct in6_addr *d)
{
	uint32_t start = p->len, nh_at = start + 6, i, j;

	pkt_add32(p, 6u << 28 | in->tclass << 20 | in->label);
	pkt_add16(p, 0);
	pkt_add8(p, proto);
	pkt_add8(p, in->ttl ? in->ttl : 64);
	pkt_add(p, s, 16);
	pkt_add(p, d, 16);
	for (i = 0; in->has_ext && in->ext[i] != 0xff; i++) {
		p->b[nh_at] = in->ext[i];
		nh_at = p->len;
		pkt_add8(p, proto);
		if (in->ext[i] == IPPROTO_FRAGMENT) {
			pkt_add8(p, 0);
			pkt_add16(p, in->frag_off << 3 | in->more);
			pkt_add32(p, 0xabcd);
			continue;
		}
		/* 16 bytes; in units of 4 for AH, of 8 for the others */
		pkt_add8(p, in->ext[i] == IPPROTO_AH ? 2 : 1);
		for (j = 0; j < 14; j++)
			pkt_add8(p, 0);
	}
	add_transport(p, in, proto);
	if (in->roce)
		pkt_add32(p, 0);
	p->b[start + 4] = (p->len - start - 40) >> 8;
	p->b[start + 5] = p->len - start - 40;
}

void pkt_inner_ip(struct pkt *p, const struct inner *in)
{
	uint8_t proto = in->proto ? in->proto : IPPROTO_UDP;
	struct in6_addr s = addr(in->src), d = addr(in->dst);
	uint32_t start = p->len, crc;

	if (strchr(in->src, ':'))
		add_v6(p, in, proto, &s, &d);
	else
		add_v4(p, in, proto, &s, &d);
	if (in->roce) {
		crc = htonl(icrc(p->b + start, p->len - start));
		memcpy(p->b + p->len - 4, &crc, 4);
	}
}

void pkt_inner(struct pkt *p, const struct inner *in)
{
	p->len = 0;
	pkt_add_eth(p, pkt_host_macs, strchr(in->src, ':') ? 0x86dd : 0x0800);
	pkt_inner_ip(p, in);
}

static unsigned int srh_entries(const struct outer *o)
{
	return o->full ? o->n : o->n - 1;
}

static bool has_srh(const struct outer *o)
{
	return srh_entries(o) || o->tlv_len;
}

/* A list of one SID with a TLV: RFC 8754 2 asks for one element at least. */
static unsigned int srh_listed(const struct outer *o)
{
	return srh_entries(o) ? srh_entries(o) : 1;
}

unsigned int outer_len(const struct outer *o)
{
	return 40 + (has_srh(o) ? 8 + 16 * srh_listed(o) + o->tlv_len : 0);
}

void pkt_add_outer(struct pkt *p, const struct outer *o, uint32_t len,
		   uint8_t nh)
{
	struct in6_addr src = addr(o->src ? o->src : "fc00:99::1");
	unsigned int entries = srh_listed(o), i;

	pkt_add32(p, 6u << 28 | o->tclass << 20 | o->label);
	pkt_add16(p, outer_len(o) - 40 + len);
	pkt_add8(p, has_srh(o) ? 43 : nh);
	pkt_add8(p, o->hop_limit ? o->hop_limit : 64);
	pkt_add(p, &src, 16);
	pkt_add(p, &o->sids[o->travelled], 16);
	if (!has_srh(o))
		return;
	pkt_add8(p, nh);
	pkt_add8(p, 2 * entries + o->tlv_len / 8);
	pkt_add8(p, 4);
	pkt_add8(p, o->n - 1 - o->travelled);
	pkt_add8(p, entries - 1);
	pkt_add8(p, 0);
	pkt_add16(p, o->tag);
	for (i = 0; i < entries; i++)
		pkt_add(p, &o->sids[o->n - 1 - i], 16);
	pkt_add(p, o->tlv, o->tlv_len);
}

void pkt_encap(struct pkt *p, const struct outer *o, const void *ip,
	       uint32_t len)
{
	p->len = 0;
	pkt_add_eth(p, o->macs ?: pkt_link_macs, 0x86dd);
	pkt_add_outer(p, o, len, *(const uint8_t *)ip >> 4 == 4 ? 4 : 41);
	pkt_add(p, ip, len);
}

static void dump(const char *what, const struct pkt *p)
{
	uint32_t i;

	printf("# %s %u:", what, p->len);
	for (i = 0; i < p->len && i < 192; i++)
		printf("%s%02x", i % 16 ? "" : " ", p->b[i]);
	printf("\n");
}

bool pkt_equal(const struct pkt *got, const struct pkt *want)
{
	if (got->len == want->len && !memcmp(got->b, want->b, got->len))
		return true;
	if (ktap_failures < KTAP_SHOWN) {
		dump("got ", got);
		dump("want", want);
	}
	return false;
}
