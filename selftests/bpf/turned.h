/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Probes that are reflected, written from RFC 8762 and RFC 8754: as they come to
 * the host that does it, and as they come back.
 */
#ifndef _SRPOL_TEST_TURNED_H
#define _SRPOL_TEST_TURNED_H

#include <stdint.h>

#include "packet.h"

#define REFLECT		5	/* SIDs, and their ids */
#define PROBE		6
#define THEIRS		0x80	/* probe SID of the peer */
#define HOP		0x100
#define N		7	/* SIDs of the way there and back */
#define TURN		2	/* of these the one that turns it round */
#define INDEX		9
#define PEER		"fd00:b::1"
#define OTHER		"fd00:c::1"
#define SELF		"fd00:a::1"
#define IP		14
#define SOURCE		(IP + 8)
#define DEST		(IP + 24)
#define SRH		(IP + 40)
#define UDP		(SRH + 8 + 16 * N)
#define STAMP		(UDP + 8)
#define SIGNED		80
#define LEN		(STAMP + SIGNED + 8)

extern uint8_t turned_key[16];		/* of the pair */
extern uint64_t turned_epoch;

uint32_t get32(const uint8_t *b);
uint64_t get64(const uint8_t *b);
uint64_t get_ns(const uint8_t *b);
void put16(uint8_t *b, uint16_t v);
void put32(uint8_t *b, uint32_t v);
void put64(uint8_t *b, uint64_t v);

/**
 * struct ask - a probe as it comes to the SID that turns it round
 * @src: source
 * @last: SID the list ends at
 * @seq: sequence number
 * @sent_ns: timestamp
 * @tclass: outer traffic class
 * @hop_limit: outer hop limit, 0 for 61
 * @padding: bytes behind
 * @path: whose marks it asks for
 * @list: likewise
 * @key: of the tag
 */
struct ask {
	const char *src;
	struct in6_addr last;
	uint32_t seq;
	uint64_t sent_ns;
	uint8_t tclass;
	uint8_t hop_limit;
	uint32_t padding;
	uint32_t path;
	uint32_t list;
	const uint8_t *key;
};

/* The one that is right, with a number. */
struct ask turned_ask(uint32_t seq);
void turned_frame(struct pkt *p, const struct ask *a);
/* The tag, over what has a meaning and the segment list. */
void turned_sign(struct pkt *p, const uint8_t *k);
/* Sum of UDP header, data and pseudo-header: 0xffff if it is right. */
uint16_t turned_sum(const struct pkt *p);
/* What @in has to become, but for the times, which are taken from @out. */
void turned_want(struct pkt *want, const struct pkt *in, const struct pkt *out,
		 uint32_t count, uint64_t ce, uint64_t path_ce);
/* One that is back: reflected from @there_ns to @back_ns of the peer's clock. */
void turned_back(struct pkt *p, uint32_t seq, uint64_t sent_ns,
		 uint64_t there_ns, uint64_t back_ns, uint32_t count,
		 uint64_t ce, uint64_t path_ce);

#endif /* _SRPOL_TEST_TURNED_H */
