// SPDX-License-Identifier: GPL-2.0
/*
 * Ingress: probes that a host with a key has turned round here, and this host's
 * own that a peer turned round. The tag is libsodium's, the packets are written
 * from RFC 8762 and RFC 8754.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define REFLECT		5	/* SIDs, and their ids */
#define PROBE		6
#define THEIRS		0x80	/* probe SID of the peer */
#define HOP		0x100
#define N		7	/* SIDs of the way there and back */
#define TURN		2	/* of these the one that turns it round */
#define INDEX		9
#define LO		1	/* device of BPF_PROG_TEST_RUN */
#define PEER		"fd00:b::1"
#define OTHER		"fd00:c::1"
#define SELF		"fd00:a::1"
#define X_TX		3
#define IP		14
#define SOURCE		(IP + 8)
#define DEST		(IP + 24)
#define SRH		(IP + 40)
#define UDP		(SRH + 8 + 16 * N)
#define STAMP		(UDP + 8)
#define SIGNED		80
#define LEN		(STAMP + SIGNED + 8)
#define SEC		1000000000ull

static uint8_t key[crypto_shorthash_KEYBYTES];
static uint8_t other_key[crypto_shorthash_KEYBYTES];
static struct srpol_probe *table;
static struct srpol_far *fars;
static uint64_t epoch;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

static uint32_t get32(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
}

static uint64_t get64(const uint8_t *b)
{
	return (uint64_t)get32(b) << 32 | get32(b + 4);
}

static uint64_t get_ns(const uint8_t *b)
{
	return get32(b) * SEC + get32(b + 4);
}

static void put16(uint8_t *b, uint16_t v)
{
	b[0] = v >> 8;
	b[1] = v;
}

static void put32(uint8_t *b, uint32_t v)
{
	put16(b, v >> 16);
	put16(b + 2, v);
}

static void put64(uint8_t *b, uint64_t v)
{
	put32(b, v >> 32);
	put32(b + 4, v);
}

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

static void sign(struct pkt *p, const uint8_t *k)
{
	uint8_t m[SIGNED + 16 * N];

	memcpy(m, p->b + STAMP, SIGNED);
	memcpy(m + SIGNED, p->b + SRH + 8, 16 * N);
	crypto_shorthash(p->b + STAMP + SIGNED, m, sizeof(m), k);
}

/* Sum of UDP header, data and pseudo-header: 0xffff if it is right. */
static uint16_t udp_sum(const struct pkt *p)
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
	put16(p->b + UDP + 6, ~udp_sum(p));
}

static void frame(struct pkt *p, const struct ask *a)
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
	pkt_add16(p, 862);
	pkt_add16(p, 862);
	pkt_add16(p, len);
	pkt_add16(p, 0);
	pkt_add32(p, a->seq);
	pkt_add32(p, a->sent_ns / SEC);
	pkt_add32(p, a->sent_ns % SEC);
	pkt_add16(p, 0x4001);
	pkt_add16(p, INDEX);
	for (i = 16; i < 44; i++)
		pkt_add8(p, 0);
	pkt_add8(p, 0);
	pkt_add8(p, 253);
	pkt_add16(p, 40);
	pkt_add32(p, epoch >> 32);
	pkt_add32(p, epoch);
	pkt_add32(p, a->path);
	pkt_add32(p, a->list);
	for (i = 0; i < 16 + 8 + a->padding; i++)
		pkt_add8(p, 0);
	sign(p, a->key);
	set_sum(p);
}

static struct ask ask(uint32_t seq)
{
	return (struct ask){
		.src = PEER, .last = sid(THEIRS), .seq = seq,
		.sent_ns = 5 * SEC + seq, .tclass = 2, .key = key,
	};
}

static void set_pair(const char *peer, const uint8_t *k, struct in6_addr last,
		     uint32_t rate)
{
	struct srpol_pair pair = { .rate = rate };
	struct in6_addr a = addr(peer);

	memcpy(pair.k, k, sizeof(pair.k));
	memcpy(pair.sid, &last, sizeof(pair.sid));
	if (bpf_map_update_elem(rig_map("pairs"), &a, &pair, 0))
		FAIL("pairs: %m");
}

/* Each test has an epoch of its own, so that none sees another one's session. */
static void setup(void)
{
	struct in6_addr a = addr(OTHER);

	rig_reset();
	rig_sid(REFLECT, sid(REFLECT), SRPOL_BEHAVIOR_REFLECT);
	rig_sid(PROBE, sid(PROBE), SRPOL_BEHAVIOR_PROBE);
	crypto_shorthash_keygen(key);
	crypto_shorthash_keygen(other_key);
	set_pair(PEER, key, sid(THEIRS), 1000000);
	bpf_map_delete_elem(rig_map("pairs"), &a);
	epoch++;
	rig_mark();
}

static void refused(const struct pkt *p, int reason, const char *about)
{
	CHECK_EQ(rig_uplink(p, NULL), X_DROP, "%s", about);
	rig_expect(about, reason, 1, RIG_END);
}

static void turned(const struct pkt *p, struct pkt *out, const char *about)
{
	CHECK_EQ(rig_uplink(p, out), X_TX, "%s", about);
	rig_expect(about, SRPOL_REASON_REFLECTED, 1, RIG_END);
}

/* What @in has to become, but for the times, which are taken from @out. */
static void reflection(struct pkt *want, const struct pkt *in,
		       const struct pkt *out, uint32_t count, uint64_t ce,
		       uint64_t path_ce)
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
	sign(want, key);
	set_sum(want);
}

static void test_good(void)
{
	struct pkt in, out, want;
	uint64_t before, t2, t3;
	struct ask a;
	uint32_t i;

	setup();
	for (i = 0; i < 100; i++) {
		a = ask(i);
		a.tclass = 0x28 | i % 4;
		frame(&in, &a);
		CHECK_EQ(udp_sum(&in), 0xffff, "the test's own sum");
		before = now();
		turned(&in, &out, "good");
		t2 = get_ns(out.b + STAMP + 16);
		t3 = get_ns(out.b + STAMP + 4);
		CHECK(before <= t2 && t2 <= t3 && t3 <= now(), "times");
		reflection(&want, &in, &out, i, (i + 1) / 4, 0);
		CHECK(pkt_equal(&out, &want), "probe %u", i);
		CHECK_EQ(udp_sum(&out), 0xffff, "sum");
	}
	CHECK_EQ(rig_sid_stats(REFLECT).packets, 100, "counted");
	CHECK_EQ(rig_sid_stats(REFLECT).ce, 25, "marks");
}

/* Marks on packets of a path that came here: the peer is told how many. */
static void test_path_ce(void)
{
	struct srpol_ce_key k = { .list = 0xabcd };
	struct srpol_ce v = { .ce = 7, .last_ns = 1 };
	struct in6_addr peer = addr(PEER);
	struct pkt in, out;
	struct ask a = ask(0);

	setup();
	memcpy(k.peer, &peer, sizeof(peer));
	bpf_map_update_elem(rig_map("ce_peers"), &k, &v, 0);
	k.path = 12;
	v.ce = 30;
	bpf_map_update_elem(rig_map("ce_peers"), &k, &v, 0);
	k.list = 0xabce;
	bpf_map_update_elem(rig_map("ce_peers"), &k, &v, 0);
	a.list = 0xabcd;
	a.path = 12;
	frame(&in, &a);
	turned(&in, &out, "marks");
	CHECK_EQ(get64(out.b + STAMP + 64), 30, "with the path's id");
	a.seq = 1;
	a.path = 13;
	frame(&in, &a);
	turned(&in, &out, "marks");
	CHECK_EQ(get64(out.b + STAMP + 64), 0, "another path's are not ours");
}

static void test_forged(void)
{
	struct ask a = ask(0);
	struct pkt in, bad, out;
	uint32_t i, bit;

	setup();
	a.key = other_key;
	frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_FORGED, "another key");
	a.key = key;
	frame(&in, &a);
	for (i = SRH + 8; i < in.len; i++) {
		/* UDP is not signed, the TLV's head is no head any more */
		if ((i >= UDP && i < STAMP) ||
		    (i >= STAMP + 44 && i < STAMP + 48))
			continue;
		for (bit = 0; bit < 8; bit++) {
			bad = in;
			bad.b[i] ^= 1 << bit;
			refused(&bad, SRPOL_REASON_REFLECT_FORGED, "bit");
		}
	}
	/* a key of another pair is none of this one's */
	set_pair(OTHER, other_key, sid(THEIRS), 1000);
	a.src = OTHER;
	frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_FORGED, "another host's source");
	a = ask(0);
	frame(&in, &a);
	turned(&in, &out, "and the real one");
	CHECK_EQ(get32(out.b + STAMP), 0, "no forged one was counted");
}

/* A second key is accepted, and what has it is answered with it. */
static void test_keys(void)
{
	struct in6_addr peer = addr(PEER);
	struct pkt in, out, want;
	struct srpol_pair pair;
	struct ask a = ask(0);
	uint8_t first[16];

	setup();
	memcpy(first, key, sizeof(first));
	bpf_map_lookup_elem(rig_map("pairs"), &peer, &pair);
	pair.both = 1;
	memcpy(pair.also, other_key, sizeof(pair.also));
	bpf_map_update_elem(rig_map("pairs"), &peer, &pair, 0);
	frame(&in, &a);
	turned(&in, &out, "by the first key");
	reflection(&want, &in, &out, 0, 0, 0);
	CHECK(pkt_equal(&out, &want), "and with it");
	/* from here on ask() and reflection() have the other one */
	memcpy(key, other_key, sizeof(key));
	a = ask(1);
	frame(&in, &a);
	turned(&in, &out, "by the second key");
	reflection(&want, &in, &out, 1, 0, 0);
	CHECK(pkt_equal(&out, &want), "and with it");
	crypto_shorthash_keygen(key);
	a = ask(2);
	frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_FORGED, "by a third");
	pair.both = 0;
	bpf_map_update_elem(rig_map("pairs"), &peer, &pair, 0);
	a.key = other_key;
	frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_FORGED, "one that is taken away");
	a.key = first;
	frame(&in, &a);
	turned(&in, &out, "the one that is left");
}

static void test_strange(void)
{
	struct ask a = ask(0);
	struct pkt in, bad, out;

	setup();
	a.src = OTHER;
	frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_STRANGE, "a host without a key");
	a = ask(0);
	a.last = sid(THEIRS + 1);
	frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_STRANGE, "to end elsewhere");
	/* signed, but its destination is not the segment it is at */
	a = ask(0);
	frame(&in, &a);
	bad = in;
	bad.b[SRH + 3]++;
	refused(&bad, SRPOL_REASON_REFLECT_STRANGE, "another segment is next");
	turned(&in, &out, "and the real one");
}

static void test_malformed(void)
{
	struct in6_addr probe = sid(PROBE);
	struct ask a = ask(0);
	struct pkt in, bad, out;
	uint32_t i, bit;

	setup();
	a.padding = 4;
	frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_MALFORMED, "longer than it is");
	a.padding = 8000;
	frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_MALFORMED, "much longer");
	a.padding = 0;
	frame(&in, &a);
	for (i = SRH; i < in.len; i++) {
		bad = in;
		bad.len = i;
		CHECK_EQ(rig_uplink(&bad, NULL), X_DROP, "cut at %u", i);
		put16(bad.b + IP + 4, i - SRH);
		CHECK_EQ(rig_uplink(&bad, NULL), X_DROP, "cut at %u", i);
	}
	rig_mark();
	for (i = 44; i < 48; i++)
		for (bit = 0; bit < 8; bit++) {
			bad = in;
			bad.b[STAMP + i] ^= 1 << bit;
			sign(&bad, key);
			refused(&bad, SRPOL_REASON_REFLECT_MALFORMED,
				"another TLV");
		}
	bad = in;
	bad.b[STAMP + 45] = 254;
	sign(&bad, key);
	refused(&bad, SRPOL_REASON_REFLECT_MALFORMED, "a reflection");
	bad = in;
	bad.b[UDP + 3] ^= 1;
	refused(&bad, SRPOL_REASON_REFLECT_MALFORMED, "another port");
	bad = in;
	bad.b[SRH] = 6;
	refused(&bad, SRPOL_REASON_REFLECT_MALFORMED, "TCP");
	bad = in;
	bad.b[SRH + 3] = 0;
	refused(&bad, SRPOL_REASON_REFLECT_MALFORMED, "no segments left");
	bad = in;
	bad.b[SRH + 4]--;
	refused(&bad, SRPOL_REASON_REFLECT_MALFORMED, "a TLV in the SRH");
	a.hop_limit = 1;
	frame(&bad, &a);
	refused(&bad, SRPOL_REASON_HOP_LIMIT, "hop limit");
	bad = in;
	memcpy(bad.b + DEST, &probe, 16);
	refused(&bad, SRPOL_REASON_PROBE_MALFORMED, "at the probe SID");
	turned(&in, &out, "and the real one");
	CHECK_EQ(get32(out.b + STAMP), 0, "nothing else was counted");
}

static void test_replay(void)
{
	struct pkt in[40], out, old;
	struct ask a;
	uint32_t i;

	setup();
	for (i = 0; i < 40; i++) {
		a = ask(i);
		frame(&in[i], &a);
		turned(&in[i], &out, "first time");
		refused(&in[i], SRPOL_REASON_REFLECT_REPLAYED, "again");
		refused(&in[i / 2], SRPOL_REASON_REFLECT_REPLAYED, "later");
	}
	CHECK_EQ(get32(out.b + STAMP), 39, "each once");
	/* another order */
	a = ask(45);
	frame(&old, &a);
	turned(&old, &out, "a gap");
	a = ask(42);
	frame(&old, &a);
	turned(&old, &out, "late");
	refused(&old, SRPOL_REASON_REFLECT_REPLAYED, "late, again");
	/* the prober began anew */
	epoch++;
	a = ask(0);
	frame(&old, &a);
	turned(&old, &out, "a new epoch");
	CHECK_EQ(get32(out.b + STAMP), 0, "counts anew");
	refused(&in[3], SRPOL_REASON_REFLECT_REPLAYED, "of the epoch before");
	epoch -= 2;
	a = ask(77);
	frame(&old, &a);
	refused(&old, SRPOL_REASON_REFLECT_REPLAYED, "of one long ago");
	epoch += 2;
}

/* A host that has a key and asks for more than it may have. */
static void test_flood(void)
{
	uint32_t i, tx = 0, dropped = 0;
	struct ask a;
	struct pkt in;
	uint64_t seconds = now() / SEC;
	int verdict;

	setup();
	set_pair(PEER, key, sid(THEIRS), 10);
	for (i = 0; i < 2000; i++) {
		a = ask(i);
		frame(&in, &a);
		verdict = rig_uplink(&in, NULL);
		tx += verdict == X_TX;
		dropped += verdict == X_DROP;
	}
	seconds = now() / SEC - seconds + 1;
	CHECK_EQ(tx + dropped, 2000, "all");
	CHECK(tx >= 10 && tx <= 10 * seconds, "%u in %llu seconds", tx,
	      (unsigned long long)seconds);
	rig_expect("each is counted", SRPOL_REASON_REFLECTED, tx,
		   SRPOL_REASON_REFLECT_LIMITED, dropped, RIG_END);
	set_pair(PEER, key, sid(THEIRS), 0);
	a = ask(i);
	frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_LIMITED, "a rate of nothing");
}

/* Whatever comes: never an answer that is longer, or to what is not signed. */
static void test_random(void)
{
	struct ask a = ask(0);
	struct pkt in, bad, out;
	uint32_t i, k, tx = 0;

	setup();
	frame(&in, &a);
	srandom(11);
	for (i = 0; i < 20000; i++) {
		bad = in;
		for (k = 0; k < 4; k++)
			bad.b[SRH + random() % (in.len - SRH)] = random();
		bad.len = SRH + random() % (in.len + 1 - SRH);
		/* UDP's source port, length and sum are not looked at */
		if (bad.len == in.len &&
		    !memcmp(bad.b + SRH, in.b + SRH, UDP - SRH) &&
		    !memcmp(bad.b + STAMP, in.b + STAMP, SIGNED + 8))
			continue;
		tx += rig_uplink(&bad, NULL) != X_DROP;
	}
	CHECK_EQ(tx, 0, "answers");
	rig_mark();
	turned(&in, &out, "and the real one");
	CHECK_EQ(out.len, in.len, "as long as it came");
}

/* --- of this host, back from a peer --- */

static void enter(void)
{
	struct srpol_probe *p = &table[INDEX];
	struct in6_addr src = addr(SELF), s, peer = addr(PEER);
	uint32_t i;

	setup();
	memset(p, 0, sizeof(*p));
	for (i = 0; i <= SRPOL_PROBE_SLOTS; i++)
		p->slot[i].back = SRPOL_PROBE_NEVER;
	p->last_seq = SRPOL_PROBE_NEVER;
	p->ifindex = LO;
	p->segs = N;
	memcpy(p->saddr, &src, 16);
	for (i = 0; i < N; i++) {
		s = i == N - 1 ? sid(PROBE) : i == TURN ? sid(REFLECT) :
		    sid(HOP + i);
		memcpy(&p->list[2 * (N - 1 - i)], &s, 16);
	}
	memset(&fars[INDEX], 0, sizeof(fars[INDEX]));
	memcpy(fars[INDEX].peer, &peer, 16);
	fars[INDEX].epoch = epoch;
	fars[INDEX].there_ns = SRPOL_FAR_NONE;
	fars[INDEX].back_ns = SRPOL_FAR_NONE;
}

/* Sent at @sent_ns, turned round from @there_ns to @back_ns of the peer's clock. */
static void back(struct pkt *p, uint32_t seq, uint64_t sent_ns,
		 uint64_t there_ns, uint64_t back_ns, uint32_t count,
		 uint64_t ce, uint64_t path_ce)
{
	struct ask a = {
		.src = SELF, .last = sid(PROBE), .seq = count,
		.sent_ns = back_ns, .tclass = 2, .key = key,
	};
	struct in6_addr last = sid(PROBE);
	uint8_t *t = p->b + STAMP;

	frame(p, &a);
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
	sign(p, key);
	set_sum(p);
}

static uint64_t send_one(uint32_t seq)
{
	uint64_t t = now();

	srpol_probe_slot_of(&table[INDEX], seq)->sent_ns = t;
	return t;
}

static void test_back(void)
{
	struct srpol_probe *p = &table[INDEX];
	struct srpol_far *f = &fars[INDEX];
	uint64_t t1, far = 1000 * SEC;
	struct pkt in;

	enter();
	/* 0 comes back, 1 is lost there, 2 on the way back, 3 comes back */
	t1 = send_one(0);
	back(&in, 0, t1, t1 + far + 500, t1 + far + 700, 0, 0, 3);
	CHECK_EQ(rig_uplink(&in, NULL), X_DROP, "it ends here");
	rig_expect("back", SRPOL_REASON_PROBE, 1, RIG_END);
	CHECK_EQ(f->reached, 1, "one reached the peer");
	CHECK_EQ(f->there_ns, (long long)far + 500, "time there");
	CHECK(f->back_ns > -(long long)far - 700 && f->back_ns < SRPOL_FAR_NONE,
	      "time back");
	CHECK_EQ(f->path_ce, 3, "marks of the path");
	CHECK_EQ(f->hop_limit, 62, "hops there");
	CHECK_EQ(p->received, 1, "and counts");
	send_one(1);
	send_one(2);
	t1 = send_one(3);
	back(&in, 3, t1, t1 + far + 900, t1 + far + 900, 2, 1, 5);
	CHECK_EQ(rig_uplink(&in, NULL), X_DROP, "it ends here");
	rig_expect("back", SRPOL_REASON_PROBE, 1, RIG_END);
	CHECK_EQ(f->reached, 3, "three reached the peer");
	CHECK_EQ(p->received, 2, "two came back");
	CHECK_EQ(p->last_seq, 3, "of four");
	CHECK_EQ(f->ce, 1, "marked on the way there");
	CHECK_EQ(p->ce, 0, "none on the way back");
	CHECK_EQ(f->there_ns, (long long)far + 500, "the least");
}

static void test_back_refused(void)
{
	struct srpol_far *f = &fars[INDEX];
	struct in6_addr peer = addr(PEER);
	struct pkt in, bad;
	uint64_t t1;
	uint32_t i;

	enter();
	t1 = send_one(0);
	back(&in, 0, t1, t1 + 5, t1 + 6, 0, 0, 0);
	for (i = STAMP; i < in.len; i++) {
		/* not the number of the list, which says whose key it is */
		if (i == STAMP + 14 || i == STAMP + 15 ||
		    (i >= STAMP + 44 && i < STAMP + 48))
			continue;
		bad = in;
		bad.b[i] ^= 1;
		refused(&bad, SRPOL_REASON_PROBE_FORGED, "bit");
	}
	for (i = SRH + 8; i < UDP; i++) {
		bad = in;
		bad.b[i] ^= 1;
		refused(&bad, SRPOL_REASON_PROBE_FORGED, "another list");
		sign(&bad, key);
		refused(&bad, SRPOL_REASON_PROBE_STRANGE,
			"another list, by who has the key");
	}
	bad = in;
	bad.b[SOURCE + 15] ^= 2;
	refused(&bad, SRPOL_REASON_PROBE_STRANGE, "another source");
	bad = in;
	bad.b[STAMP + 15]++;
	refused(&bad, SRPOL_REASON_PROBE_STRANGE, "no such probe");
	bad = in;
	put16(bad.b + STAMP + 14, 65535);
	refused(&bad, SRPOL_REASON_PROBE_STRANGE, "an index too large");
	bad = in;
	bad.b[STAMP + 45] = 253;
	sign(&bad, key);
	refused(&bad, SRPOL_REASON_PROBE_MALFORMED, "not turned round");
	f->epoch++;
	refused(&in, SRPOL_REASON_PROBE_STALE, "of the epoch before");
	f->epoch--;
	bpf_map_delete_elem(rig_map("pairs"), &peer);
	refused(&in, SRPOL_REASON_PROBE_STRANGE, "the key was taken back");
	set_pair(PEER, key, sid(THEIRS), 10);
	CHECK_EQ(f->reached, 0, "nothing counted");
	CHECK_EQ(rig_uplink(&in, NULL), X_DROP, "and the real one");
	rig_expect("back", SRPOL_REASON_PROBE, 1, RIG_END);
	refused(&in, SRPOL_REASON_PROBE_STALE, "again");
	CHECK_EQ(f->reached, 1, "once");
}

static const struct ktap_test tests[] = {
	{ "turned round: each byte, marks counted and taken off", test_good },
	{ "marks on packets of a path are told", test_path_ce },
	{ "without the tag of the pair", test_forged },
	{ "two keys of a pair, while they are changed", test_keys },
	{ "a host without a key, another list", test_strange },
	{ "what is no probe, or longer than one", test_malformed },
	{ "each is turned round once", test_replay },
	{ "a flood: as many as the pair may have", test_flood },
	{ "random bytes: no answer", test_random },
	{ "back: the two directions apart", test_back },
	{ "back: forged, replayed, by another list", test_back_refused },
};

int main(void)
{
	rig_open_only("srpol_uplink");
	if (sodium_init() < 0)
		return 1;
	table = mmap(NULL, SRPOL_MAX_PROBES * sizeof(*table),
		     PROT_READ | PROT_WRITE, MAP_SHARED, rig_map("probes"), 0);
	fars = mmap(NULL, SRPOL_MAX_PROBES * sizeof(*fars),
		    PROT_READ | PROT_WRITE, MAP_SHARED, rig_map("fars"), 0);
	if (table == MAP_FAILED || fars == MAP_FAILED) {
		perror("maps");
		return 1;
	}
	return ktap_main(tests, ARRAY_SIZE(tests));
}
