// SPDX-License-Identifier: GPL-2.0
/*
 * Ingress: probes that a host with a key has reflected here, and this host's
 * own that a peer reflected. The tag is libsodium's, the packets are written
 * from RFC 8762 and RFC 8754.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"
#include "stamp.h"
#include "turned.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define LO		1	/* device of BPF_PROG_TEST_RUN */
#define SEC		STAMP_SEC

static uint8_t other_key[crypto_shorthash_KEYBYTES];
static struct srpol_probe *table;
static struct srpol_far *fars;

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
	rig_uplink_add(LO);
	rig_sid(REFLECT, sid(REFLECT), SRPOL_BEHAVIOR_REFLECT);
	rig_sid(PROBE, sid(PROBE), SRPOL_BEHAVIOR_PROBE);
	crypto_shorthash_keygen(turned_key);
	crypto_shorthash_keygen(other_key);
	set_pair(PEER, turned_key, sid(THEIRS), 1000000);
	bpf_map_delete_elem(rig_map("pairs"), &a);
	turned_epoch++;
	rig_mark();
}

static void refused(const struct pkt *p, int reason, const char *about)
{
	CHECK_EQ(rig_uplink(p, NULL), X_DROP, "%s", about);
	rig_expect(about, reason, 1, RIG_END);
}

static void turned(const struct pkt *p, struct pkt *out, const char *about)
{
	CHECK_EQ(rig_uplink(p, out), X_REDIRECT, "%s", about);
	rig_expect(about, SRPOL_REASON_REFLECTED, 1, RIG_END);
}

static void test_good(void)
{
	struct pkt in, out, want;
	uint64_t before, t2, t3;
	struct ask a;
	uint32_t i;

	setup();
	for (i = 0; i < 100; i++) {
		a = turned_ask(i);
		a.tclass = 0x28 | i % 4;
		turned_frame(&in, &a);
		CHECK_EQ(turned_sum(&in), 0xffff, "the test's own sum");
		before = stamp_now();
		turned(&in, &out, "good");
		t2 = get_ns(out.b + STAMP + 16);
		t3 = get_ns(out.b + STAMP + 4);
		CHECK(before <= t2 && t2 <= t3 && t3 <= stamp_now(), "times");
		turned_want(&want, &in, &out, i, (i + 1) / 4, 0);
		CHECK(pkt_equal(&out, &want), "probe %u", i);
		CHECK_EQ(turned_sum(&out), 0xffff, "sum");
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
	struct ask a = turned_ask(0);

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
	turned_frame(&in, &a);
	turned(&in, &out, "marks");
	CHECK_EQ(get64(out.b + STAMP + 64), 30, "with the path's id");
	a.seq = 1;
	a.path = 13;
	turned_frame(&in, &a);
	turned(&in, &out, "marks");
	CHECK_EQ(get64(out.b + STAMP + 64), 0, "another path's are not ours");
}

static void test_forged(void)
{
	struct ask a = turned_ask(0);
	struct pkt in, bad, out;
	uint32_t i, bit;

	setup();
	a.key = other_key;
	turned_frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_FORGED, "another key");
	a.key = turned_key;
	turned_frame(&in, &a);
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
	turned_frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_FORGED, "another host's source");
	a = turned_ask(0);
	turned_frame(&in, &a);
	turned(&in, &out, "and the real one");
	CHECK_EQ(get32(out.b + STAMP), 0, "no forged one was counted");
}

/* A second key is accepted, and what has it is answered with it. */
static void test_keys(void)
{
	struct in6_addr peer = addr(PEER);
	struct pkt in, out, want;
	struct srpol_pair pair;
	struct ask a = turned_ask(0);
	uint8_t first[16];

	setup();
	memcpy(first, turned_key, sizeof(first));
	bpf_map_lookup_elem(rig_map("pairs"), &peer, &pair);
	pair.both = 1;
	memcpy(pair.also, other_key, sizeof(pair.also));
	bpf_map_update_elem(rig_map("pairs"), &peer, &pair, 0);
	turned_frame(&in, &a);
	turned(&in, &out, "by the first key");
	turned_want(&want, &in, &out, 0, 0, 0);
	CHECK(pkt_equal(&out, &want), "and with it");
	/* from here on turned_ask() and turned_want() have the other one */
	memcpy(turned_key, other_key, sizeof(turned_key));
	a = turned_ask(1);
	turned_frame(&in, &a);
	turned(&in, &out, "by the second key");
	turned_want(&want, &in, &out, 1, 0, 0);
	CHECK(pkt_equal(&out, &want), "and with it");
	crypto_shorthash_keygen(turned_key);
	a = turned_ask(2);
	turned_frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_FORGED, "by a third");
	pair.both = 0;
	bpf_map_update_elem(rig_map("pairs"), &peer, &pair, 0);
	a.key = other_key;
	turned_frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_FORGED, "one that is taken away");
	a.key = first;
	turned_frame(&in, &a);
	turned(&in, &out, "the one that is left");
}

static void test_strange(void)
{
	struct ask a = turned_ask(0);
	struct pkt in, bad, out;

	setup();
	a.src = OTHER;
	turned_frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_STRANGE, "a host without a key");
	a = turned_ask(0);
	a.last = sid(THEIRS + 1);
	turned_frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_STRANGE, "to end elsewhere");
	/* signed, but its destination is not the segment it is at */
	a = turned_ask(0);
	turned_frame(&in, &a);
	bad = in;
	bad.b[SRH + 3]++;
	refused(&bad, SRPOL_REASON_REFLECT_STRANGE, "another segment is next");
	/* nor is one behind the list, whatever was read there before */
	bad.b[SRH + 3] = N;
	refused(&bad, SRPOL_REASON_REFLECT_MALFORMED, "a segment behind the list");
	turned(&in, &out, "and the real one");
}

static void test_malformed(void)
{
	struct in6_addr probe = sid(PROBE);
	struct ask a = turned_ask(0);
	struct pkt in, bad, out;
	uint32_t i, bit;

	setup();
	a.padding = 4;
	turned_frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_MALFORMED, "longer than it is");
	a.padding = 8000;
	turned_frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_MALFORMED, "much longer");
	a.padding = 0;
	turned_frame(&in, &a);
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
			turned_sign(&bad, turned_key);
			refused(&bad, SRPOL_REASON_REFLECT_MALFORMED,
				"another TLV");
		}
	bad = in;
	bad.b[STAMP + 45] = 254;
	turned_sign(&bad, turned_key);
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
	turned_frame(&bad, &a);
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
		a = turned_ask(i);
		turned_frame(&in[i], &a);
		turned(&in[i], &out, "first time");
		refused(&in[i], SRPOL_REASON_REFLECT_REPLAYED, "again");
		refused(&in[i / 2], SRPOL_REASON_REFLECT_REPLAYED, "later");
	}
	CHECK_EQ(get32(out.b + STAMP), 39, "each once");
	/* another order */
	a = turned_ask(45);
	turned_frame(&old, &a);
	turned(&old, &out, "a gap");
	a = turned_ask(42);
	turned_frame(&old, &a);
	turned(&old, &out, "late");
	refused(&old, SRPOL_REASON_REFLECT_REPLAYED, "late, again");
	/* the prober began anew */
	turned_epoch++;
	a = turned_ask(0);
	turned_frame(&old, &a);
	turned(&old, &out, "a new epoch");
	CHECK_EQ(get32(out.b + STAMP), 0, "counts anew");
	refused(&in[3], SRPOL_REASON_REFLECT_REPLAYED, "of the epoch before");
	turned_epoch -= 2;
	a = turned_ask(77);
	turned_frame(&old, &a);
	refused(&old, SRPOL_REASON_REFLECT_REPLAYED, "of one long ago");
	turned_epoch += 2;
	/* another probe of the peer has numbers, and a count, of its own */
	a = turned_ask(0);
	turned_frame(&old, &a);
	put16(old.b + STAMP + 14, INDEX + 1);
	turned_sign(&old, turned_key);
	turned(&old, &out, "another probe");
	CHECK_EQ(get32(out.b + STAMP), 0, "counts by itself");
	refused(&old, SRPOL_REASON_REFLECT_REPLAYED, "another probe, again");
}

/* A host that has a key and asks for more than it may have. */
static void test_flood(void)
{
	uint32_t i, tx = 0, dropped = 0;
	struct ask a;
	struct pkt in;
	uint64_t seconds = stamp_now() / SEC;
	int verdict;

	setup();
	set_pair(PEER, turned_key, sid(THEIRS), 10);
	for (i = 0; i < 2000; i++) {
		a = turned_ask(i);
		turned_frame(&in, &a);
		verdict = rig_uplink(&in, NULL);
		tx += verdict == X_REDIRECT;
		dropped += verdict == X_DROP;
	}
	seconds = stamp_now() / SEC - seconds + 1;
	CHECK_EQ(tx + dropped, 2000, "all");
	CHECK(tx >= 10 && tx <= 10 * seconds, "%u in %llu seconds", tx,
	      (unsigned long long)seconds);
	rig_expect("each is counted", SRPOL_REASON_REFLECTED, tx,
		   SRPOL_REASON_REFLECT_LIMITED, dropped, RIG_END);
	/* the second after it may have as many */
	seconds = stamp_now() / SEC;
	while (stamp_now() / SEC == seconds)
		usleep(1000);
	a = turned_ask(i++);
	turned_frame(&in, &a);
	CHECK_EQ(rig_uplink(&in, NULL), X_REDIRECT, "another second");
	rig_mark();
	set_pair(PEER, turned_key, sid(THEIRS), 0);
	a = turned_ask(i);
	turned_frame(&in, &a);
	refused(&in, SRPOL_REASON_REFLECT_LIMITED, "a rate of nothing");
}

/* Whatever comes: never an answer that is longer, or to what is not signed. */
static void test_random(void)
{
	struct ask a = turned_ask(0);
	struct pkt in, bad, out;
	uint32_t i, k, tx = 0;

	setup();
	turned_frame(&in, &a);
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

static void enter_far(void)
{
	struct srpol_probe *p = &table[INDEX];
	struct in6_addr s, peer = addr(PEER);
	uint32_t i;

	setup();
	stamp_enter(p, SELF, LO, N);
	for (i = 0; i < N; i++) {
		s = i == N - 1 ? sid(PROBE) : i == TURN ? sid(REFLECT) :
		    sid(HOP + i);
		memcpy(&p->list[2 * (N - 1 - i)], &s, 16);
	}
	memset(&fars[INDEX], 0, sizeof(fars[INDEX]));
	memcpy(fars[INDEX].peer, &peer, 16);
	fars[INDEX].epoch = turned_epoch;
	fars[INDEX].there_ns = SRPOL_FAR_NONE;
	fars[INDEX].back_ns = SRPOL_FAR_NONE;
}

static uint64_t send_one(uint32_t seq)
{
	uint64_t t = stamp_now();

	srpol_probe_slot_of(&table[INDEX], seq)->sent_ns = t;
	return t;
}

static void test_back(void)
{
	struct srpol_probe *p = &table[INDEX];
	struct srpol_far *f = &fars[INDEX];
	uint64_t t1, far = 1000 * SEC;
	struct pkt in;

	enter_far();
	/* 0 comes back, 1 is lost there, 2 on the way back, 3 comes back */
	t1 = send_one(0);
	turned_back(&in, 0, t1, t1 + far + 500, t1 + far + 700, 0, 0, 3);
	CHECK_EQ(rig_uplink(&in, NULL), X_DROP, "it ends here");
	rig_expect("back", SRPOL_REASON_PROBE, 1, RIG_END);
	CHECK_EQ(f->reached, 1, "one reached the peer");
	CHECK_EQ(f->there_ns, (long long)far + 500, "time there");
	CHECK(f->back_ns > -(long long)far - 700 && f->back_ns < SRPOL_FAR_NONE,
	      "time back");
	CHECK_EQ(f->path_ce, 3, "marks of the path");
	CHECK_EQ(f->hop_limit, 62, "hops there, not back");
	CHECK_EQ(p->received, 1, "and counts");
	send_one(1);
	send_one(2);
	t1 = send_one(3);
	turned_back(&in, 3, t1, t1 + far + 900, t1 + far + 900, 2, 1, 5);
	CHECK_EQ(rig_uplink(&in, NULL), X_DROP, "it ends here");
	rig_expect("back", SRPOL_REASON_PROBE, 1, RIG_END);
	CHECK_EQ(f->reached, 3, "three reached the peer");
	CHECK_EQ(p->received, 2, "two came back");
	CHECK_EQ(p->last_seq, 3, "of four");
	CHECK_EQ(f->ce, 1, "marked on the way there");
	CHECK_EQ(p->ce, 0, "none on the way back");
	CHECK_EQ(f->there_ns, (long long)far + 500, "the least");
}

/*
 * The peer forgot the session, as it has room for so many: it counts anew, and what
 * it forgot was not lost.
 */
static void test_back_forgotten(void)
{
	struct srpol_probe *p = &table[INDEX];
	struct srpol_far *f = &fars[INDEX];
	struct pkt in;
	uint32_t i;
	uint64_t t;

	enter_far();
	for (i = 0; i < 200; i++) {
		/* 4 of 200 are lost on the way there, two before it forgot */
		t = send_one(i);
		if (i % 50 == 7)
			continue;
		turned_back(&in, i, t, t, t, i < 100 ? i - (i + 42) / 50 :
		     i - 100 - (i - 58) / 50, i < 100 ? 60 : 5, 0);
		CHECK_EQ(rig_uplink(&in, NULL), X_DROP, "it ends here");
	}
	CHECK_EQ(p->received, 196, "came back");
	CHECK_EQ(f->reached, 196, "reached the peer");
	CHECK_EQ(f->ce, 65, "marked on the way there");
	/* in another order */
	enter_far();
	for (i = 0; i < 20; i++) {
		t = send_one(i ^ 3);
		turned_back(&in, i ^ 3, t, t, t, i ^ 3, 0, 0);
		rig_uplink(&in, NULL);
	}
	CHECK_EQ(f->reached, 20, "in another order");
}

static void test_back_refused(void)
{
	struct srpol_far *f = &fars[INDEX];
	struct in6_addr peer = addr(PEER);
	struct pkt in, bad;
	uint64_t t1;
	uint32_t i;

	enter_far();
	t1 = send_one(0);
	turned_back(&in, 0, t1, t1 + 5, t1 + 6, 0, 0, 0);
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
		turned_sign(&bad, turned_key);
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
	turned_sign(&bad, turned_key);
	refused(&bad, SRPOL_REASON_PROBE_MALFORMED, "not reflected");
	bad = in;
	bad.b[SRH + 3] = 1;
	refused(&bad, SRPOL_REASON_PROBE_MALFORMED, "with a segment left");
	f->epoch++;
	refused(&in, SRPOL_REASON_PROBE_STALE, "of the epoch before");
	f->epoch--;
	bpf_map_delete_elem(rig_map("pairs"), &peer);
	refused(&in, SRPOL_REASON_PROBE_STRANGE, "the key was taken back");
	set_pair(PEER, turned_key, sid(THEIRS), 10);
	CHECK_EQ(f->reached, 0, "nothing counted");
	CHECK_EQ(rig_uplink(&in, NULL), X_DROP, "and the real one");
	rig_expect("back", SRPOL_REASON_PROBE, 1, RIG_END);
	refused(&in, SRPOL_REASON_PROBE_STALE, "again");
	CHECK_EQ(f->reached, 1, "once");
}

static const struct ktap_test tests[] = {
	{ "reflected: each byte, marks counted and taken off", test_good },
	{ "marks on packets of a path are told", test_path_ce },
	{ "without the tag of the pair", test_forged },
	{ "two keys of a pair, while they are changed", test_keys },
	{ "a host without a key, another list", test_strange },
	{ "what is no probe, or longer than one", test_malformed },
	{ "each is reflected once", test_replay },
	{ "a flood: as many as the pair may have", test_flood },
	{ "random bytes: no answer", test_random },
	{ "back: the two directions apart", test_back },
	{ "back: a peer that forgot", test_back_forgotten },
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
