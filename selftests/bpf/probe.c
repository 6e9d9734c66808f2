// SPDX-License-Identifier: GPL-2.0
/*
 * Ingress: what comes to a SID of behavior probe. The tag is libsodium's, the
 * packet is written from the standards.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ktap.h"
#include "rig.h"
#include "stamp.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define PROBE		5	/* the SID and its id */
#define FAR		0x100
#define INDEX		7	/* of the segment list in map "probes" */
#define LO		1	/* device of BPF_PROG_TEST_RUN */
#define SRH		(14 + 40)
#define SOURCE		(14 + 8)
#define HOST		"fd00:a::1"
#define MS		1000000ull

static uint8_t key[crypto_shorthash_KEYBYTES];
static struct srpol_probe *table;
static struct ring_buffer *ring;
static struct srpol_probe_event event;
static unsigned int events;

/**
 * struct probe - a probe as it comes back
 * @n: SIDs
 * @index: SSID
 * @seq: sequence number
 * @sent_ns: timestamp
 * @tclass: outer traffic class
 * @padding: bytes behind
 * @key: of the tag, NULL: the right one
 */
struct probe {
	unsigned int n;
	uint16_t index;
	uint32_t seq;
	uint64_t sent_ns;
	uint8_t tclass;
	uint32_t padding;
	const uint8_t *key;
};

static void frame(struct pkt *p, const struct probe *probe)
{
	struct in6_addr list[SRPOL_SEGS_MAX];
	struct outer o = {
		.src = HOST, .sids = list, .n = probe->n, .full = true,
		.travelled = probe->n - 1, .tclass = probe->tclass,
		.hop_limit = 60,
	};
	uint32_t len = 8 + 44 + 12 + probe->padding, stamp, i;
	uint8_t tag[8];

	for (i = 0; i < probe->n; i++)
		list[i] = sid(FAR + i);
	list[probe->n - 1] = sid(PROBE);
	p->len = 0;
	pkt_add_eth(p, pkt_link_macs, 0x86dd);
	pkt_add_outer(p, &o, len, IPPROTO_UDP);
	stamp = p->len + 8;
	stamp_add(p, len, probe->seq, probe->sent_ns, probe->index);
	pkt_add8(p, 0);
	pkt_add8(p, 252);
	pkt_add16(p, 8);
	crypto_shorthash(tag, p->b + stamp, 16, probe->key ?: key);
	pkt_add(p, tag, sizeof(tag));
	for (i = 0; i < probe->padding; i++)
		pkt_add8(p, 0);
}

/* What the prober does when it sends. */
static struct probe sent(unsigned int n, uint32_t seq)
{
	struct srpol_probe *p = &table[INDEX];
	struct probe probe = {
		.n = n, .index = INDEX, .seq = seq, .sent_ns = stamp_now(),
	};

	srpol_probe_slot_of(p, seq)->sent_ns = probe.sent_ns;
	return probe;
}

static void set_key(const uint8_t *k)
{
	struct srpol_probe_key value = { .set = !!k };
	__u32 zero = 0;

	if (k)
		memcpy(value.k, k, sizeof(value.k));
	if (bpf_map_update_elem(rig_map("probe_key"), &zero, &value, 0))
		FAIL("probe_key: %m");
}

static void setup(unsigned int n)
{
	struct srpol_probe *p = &table[INDEX];
	struct in6_addr s;
	unsigned int i;

	rig_reset();
	rig_sid(PROBE, sid(PROBE), SRPOL_BEHAVIOR_PROBE);
	crypto_shorthash_keygen(key);
	set_key(key);
	stamp_enter(p, HOST, LO, n);
	for (i = 0; i < n; i++) {
		s = i ? sid(FAR + n - 1 - i) : sid(PROBE);
		memcpy(&p->list[2 * i], &s, 16);
	}
	rig_mark();
}

static void check_reason(const struct pkt *p, int reason, const char *about)
{
	CHECK_EQ(rig_uplink(p, NULL), X_DROP, "%s", about);
	rig_expect(about, reason, 1, RIG_END);
}

static void test_good(void)
{
	static const unsigned int n[] = { 1, 2, 6, 16 };
	struct srpol_probe *p = &table[INDEX];
	struct srpol_probe_slot *slot;
	struct srpol_sid_stats s;
	struct probe probe;
	struct pkt pkt;
	__u32 i, k, sum;

	for (i = 0; i < ARRAY_SIZE(n); i++) {
		setup(n[i]);
		for (k = 0; k < 200; k++) {
			probe = sent(n[i], k);
			frame(&pkt, &probe);
			check_reason(&pkt, SRPOL_REASON_PROBE, "good");
			slot = &p->slot[k % SRPOL_PROBE_SLOTS];
			CHECK_EQ(slot->back, k, "%u SIDs", n[i]);
			CHECK(slot->rtt_ns && slot->rtt_ns < 10000 * MS,
			      "RTT %u", slot->rtt_ns);
			CHECK(slot->rtt_ns >= p->rtt_min_ns, "least RTT");
		}
		CHECK_EQ(p->received, 200, "%u SIDs", n[i]);
		CHECK_EQ(p->last_seq, 199, "%u SIDs", n[i]);
		CHECK_EQ(p->hop_limit, 60, "%u SIDs", n[i]);
		CHECK_EQ(p->ce + p->gaps, 0, "%u SIDs", n[i]);
		CHECK(p->last_ns >= probe.sent_ns && p->last_ns <= stamp_now(),
		      "last seen");
		for (k = sum = 0; k < SRPOL_PROBE_RTTS; k++)
			sum += p->histogram[k];
		CHECK_EQ(sum, 200, "histogram");
		s = rig_sid_stats(PROBE);
		CHECK_EQ(s.packets, 200, "%u SIDs", n[i]);
		CHECK_EQ(s.dropped, 0, "%u SIDs", n[i]);
	}
}

/* Times that are known: what becomes of them. */
static void test_rtt(void)
{
	static const uint64_t times[] = {
		1ull << 26, 3ull << 27, 1ull << 31, 1ull << 40,
	};
	struct srpol_probe *p = &table[INDEX];
	__u32 i, before, bin, counted[SRPOL_PROBE_RTTS], least = ~0u;
	struct probe probe;
	struct pkt pkt;
	uint64_t ago;

	setup(6);
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		probe = sent(6, i);
		/* the machine's clock may be younger than that */
		ago = times[i] < probe.sent_ns ? times[i] : probe.sent_ns - 1;
		probe.sent_ns -= ago;
		p->slot[i].sent_ns = probe.sent_ns;
		frame(&pkt, &probe);
		before = p->rtt_ns;
		memcpy(counted, p->histogram, sizeof(counted));
		check_reason(&pkt, SRPOL_REASON_PROBE, "time");
		CHECK(p->slot[i].rtt_ns >= (ago < ~0u ? ago : ~0u),
		      "%u ns, sent %lu ns ago", p->slot[i].rtt_ns, ago);
		if (p->slot[i].rtt_ns < least)
			least = p->slot[i].rtt_ns;
		CHECK_EQ(p->rtt_min_ns, least, "least of %u", i);
		CHECK_EQ(p->rtt_ns, i ? before - before / 8 +
			 p->slot[i].rtt_ns / 8 : p->slot[i].rtt_ns,
			 "smoothed after %u", i);
		bin = 31 - __builtin_clz(p->slot[i].rtt_ns);
		CHECK_EQ(p->histogram[bin], counted[bin] + 1, "bin %u", bin);
	}
}

static void test_ce(void)
{
	struct srpol_probe *p = &table[INDEX];
	struct probe probe;
	struct pkt pkt;
	__u32 i;

	setup(6);
	for (i = 0; i < 16; i++) {
		probe = sent(6, i);
		probe.tclass = i % 4;
		frame(&pkt, &probe);
		check_reason(&pkt, SRPOL_REASON_PROBE, "ECN");
	}
	CHECK_EQ(p->ce, 4, "CE of 16");
}

/* A long probe has a slot of its own and is no sample of the RTT. */
static void test_long(void)
{
	struct srpol_probe *p = &table[INDEX];
	struct probe probe;
	struct pkt pkt;

	setup(6);
	probe = sent(6, SRPOL_PROBE_SEQ_LONG | 1);
	probe.padding = 1200;
	frame(&pkt, &probe);
	check_reason(&pkt, SRPOL_REASON_PROBE, "long");
	CHECK_EQ(p->slot[SRPOL_PROBE_LONG].back, SRPOL_PROBE_SEQ_LONG | 1,
		 "long");
	CHECK_EQ(p->received, 0, "no sample");
	check_reason(&pkt, SRPOL_REASON_PROBE_STALE, "long again");
}

static void test_replay(void)
{
	struct srpol_probe *p = &table[INDEX];
	struct probe probe[100];
	struct pkt pkt;
	__u32 i, k;

	setup(6);
	for (i = 0; i < 100; i++) {
		probe[i] = sent(6, i);
		frame(&pkt, &probe[i]);
		check_reason(&pkt, SRPOL_REASON_PROBE, "first time");
		for (k = 0; k <= i; k += 9) {
			frame(&pkt, &probe[k]);
			check_reason(&pkt, SRPOL_REASON_PROBE_STALE, "again");
		}
	}
	CHECK_EQ(p->received, 100, "each once");
	/* what was never sent, though somebody had it signed */
	probe[0] = (struct probe){ .n = 6, .index = INDEX, .seq = 100,
				   .sent_ns = stamp_now() };
	frame(&pkt, &probe[0]);
	check_reason(&pkt, SRPOL_REASON_PROBE_STALE, "not sent");
	/* the prober starts anew: slots without a time match nothing */
	memset(p->slot, 0, sizeof(p->slot));
	probe[0] = (struct probe){ .n = 6, .index = INDEX, .seq = 5 };
	frame(&pkt, &probe[0]);
	check_reason(&pkt, SRPOL_REASON_PROBE_STALE, "time 0");
	CHECK_EQ(p->received, 100, "none more");
}

static void test_order(void)
{
	struct srpol_probe *p = &table[INDEX];
	struct probe probe[4];
	struct pkt pkt;
	__u32 i;
	static const __u32 order[] = { 0, 2, 1, 3 };

	setup(6);
	for (i = 0; i < 4; i++)
		probe[i] = sent(6, i);
	for (i = 0; i < 4; i++) {
		frame(&pkt, &probe[order[i]]);
		check_reason(&pkt, SRPOL_REASON_PROBE, "order");
	}
	CHECK_EQ(p->received, 4, "all count");
	CHECK_EQ(p->gaps, 3, "0 2, 2 1, 1 3");
}

static void test_forged(void)
{
	uint8_t other[sizeof(key)];
	struct probe probe;
	struct pkt pkt, bad;
	__u32 i, bit;

	setup(6);
	crypto_shorthash_keygen(other);
	probe = sent(6, 0);
	probe.key = other;
	frame(&pkt, &probe);
	check_reason(&pkt, SRPOL_REASON_PROBE_FORGED, "another host's key");
	probe.key = NULL;
	frame(&pkt, &probe);
	/* what a probe says, and its tag */
	for (i = SRH + 8 + 6 * 16 + 8; i < pkt.len; i++) {
		if (i >= SRH + 8 + 6 * 16 + 8 + 16 && i < pkt.len - 8)
			continue;
		for (bit = 0; bit < 8; bit++) {
			bad = pkt;
			bad.b[i] ^= 1 << bit;
			check_reason(&bad, SRPOL_REASON_PROBE_FORGED, "bit");
		}
	}
	set_key(NULL);
	check_reason(&pkt, SRPOL_REASON_PROBE_FORGED, "no prober, no key");
	set_key(key);
	check_reason(&pkt, SRPOL_REASON_PROBE, "and the real one");
	CHECK_EQ(table[INDEX].received, 1, "one");
}

static void test_strange(void)
{
	struct srpol_probe *p = &table[INDEX];
	struct probe probe;
	struct pkt pkt, bad;
	__u32 i;

	setup(6);
	probe = sent(6, 0);
	frame(&pkt, &probe);
	/* its destination is the first entry; that one only in the list */
	for (i = SRH + 8; i < SRH + 8 + 6 * 16; i++) {
		bad = pkt;
		bad.b[i] ^= 1;
		check_reason(&bad, SRPOL_REASON_PROBE_STRANGE, "another list");
	}
	for (i = SOURCE; i < SOURCE + 16; i++) {
		bad = pkt;
		bad.b[i] ^= 1;
		check_reason(&bad, SRPOL_REASON_PROBE_STRANGE,
			     "another source");
	}
	probe.n = 5;
	frame(&bad, &probe);
	check_reason(&bad, SRPOL_REASON_PROBE_STRANGE, "a shorter list");
	probe.n = 16;
	frame(&bad, &probe);
	check_reason(&bad, SRPOL_REASON_PROBE_STRANGE, "a longer list");
	probe.n = 6;
	probe.index = INDEX + 1;
	frame(&bad, &probe);
	check_reason(&bad, SRPOL_REASON_PROBE_STRANGE, "an index not in use");
	probe.index = 65535;
	frame(&bad, &probe);
	check_reason(&bad, SRPOL_REASON_PROBE_STRANGE, "an index too large");
	p->ifindex = LO + 1;
	check_reason(&pkt, SRPOL_REASON_PROBE_STRANGE, "another device");
	p->ifindex = LO;
	check_reason(&pkt, SRPOL_REASON_PROBE, "and the real one");
	CHECK_EQ(p->received, 1, "one");
}

/* Cut anywhere, wrong anywhere: dropped, and never an answer. */
static void test_malformed(void)
{
	struct srpol_probe *p = &table[INDEX];
	struct probe probe;
	struct pkt pkt, bad;
	struct inner ping = {
		.src = HOST, .proto = 58, .first_byte = 128, .payload = 56,
	};
	struct in6_addr own = sid(PROBE);
	char text[64];
	__u32 i, bit;

	setup(6);
	probe = sent(6, 0);
	frame(&pkt, &probe);
	for (i = SRH; i < pkt.len; i++) {
		bad = pkt;
		bad.len = i;
		CHECK_EQ(rig_uplink(&bad, NULL), X_DROP, "cut at %u", i);
		/* the IPv6 header says so too */
		bad.b[18] = (i - SRH) >> 8;
		bad.b[19] = i - SRH;
		CHECK_EQ(rig_uplink(&bad, NULL), X_DROP, "cut at %u", i);
	}
	rig_mark();
	bad = pkt;
	bad.b[SRH + 3] = 1;
	check_reason(&bad, SRPOL_REASON_PROBE_MALFORMED, "segments left");
	bad = pkt;
	bad.b[SRH] = 6;
	check_reason(&bad, SRPOL_REASON_PROBE_MALFORMED, "TCP");
	bad = pkt;
	bad.b[SRH + 4] = 4;
	check_reason(&bad, SRPOL_REASON_PROBE_MALFORMED, "a TLV in the SRH");
	bad = pkt;
	bad.b[SRH + 8 + 6 * 16 + 3] ^= 1;
	check_reason(&bad, SRPOL_REASON_PROBE_MALFORMED, "another port");
	for (i = 44; i < 48; i++)
		for (bit = 0; bit < 8; bit++) {
			bad = pkt;
			bad.b[SRH + 8 + 6 * 16 + 8 + i] ^= 1 << bit;
			check_reason(&bad, SRPOL_REASON_PROBE_MALFORMED,
				     "another TLV");
		}
	ping.dst = inet_ntop(AF_INET6, &own, text, sizeof(text));
	pkt_inner(&bad, &ping);
	memcpy(bad.b, pkt_link_macs, sizeof(pkt_link_macs));
	check_reason(&bad, SRPOL_REASON_PROBE_MALFORMED, "a ping");
	CHECK_EQ(p->received, 0, "none");
	check_reason(&pkt, SRPOL_REASON_PROBE, "and the real one");
	CHECK_EQ(rig_sid_stats(PROBE).packets, 1, "one");
}

/* Random bytes at random places of a good one. */
static void test_random_bytes(void)
{
	struct srpol_probe *p = &table[INDEX];
	struct probe probe;
	struct pkt pkt, bad;
	__u32 i, k;

	setup(6);
	probe = sent(6, 0);
	frame(&pkt, &probe);
	srandom(7);
	for (i = 0; i < 20000; i++) {
		bad = pkt;
		for (k = 0; k < 4; k++)
			bad.b[SRH + random() % (pkt.len - SRH)] = random();
		bad.len = SRH + random() % (pkt.len + 1 - SRH);
		CHECK_EQ(rig_uplink(&bad, NULL), X_DROP, "%u", i);
		CHECK(p->received <= 1, "%u counts", i);
	}
}

/* The operator named sources: a probe has better than that. */
static void test_domain(void)
{
	struct srpol_dp_config cfg = { .n_domain = 1 };
	struct probe probe;
	struct pkt pkt;

	setup(6);
	cfg.domain[0].prefix[0] = 0x20;
	cfg.domain[0].mask[0] = 0xff;
	rig_config(cfg);
	probe = sent(6, 0);
	frame(&pkt, &probe);
	check_reason(&pkt, SRPOL_REASON_PROBE, "its source is in no prefix");
	pkt.b[pkt.len - 1] ^= 1;
	check_reason(&pkt, SRPOL_REASON_PROBE_FORGED, "nor is a forger's");
}

static int take(void *ctx, void *record, size_t size)
{
	(void)ctx;
	if (size >= sizeof(event))
		memcpy(&event, record, sizeof(event));
	events++;
	return 0;
}

/* As if a second had passed. */
static void renew_budget(void)
{
	int cpus = libbpf_num_possible_cpus();
	__u64 *none = calloc(cpus, 2 * sizeof(*none));
	__u32 i;

	for (i = 0; i < SRPOL_PROBE_REASONS; i++)
		if (!none || bpf_map_update_elem(rig_map("probe_budget"), &i,
						 none, 0))
			FAIL("probe_budget: %m");
	free(none);
}

static void test_events(void)
{
	struct probe probe;
	struct pkt pkt, bad;
	int i;

	setup(6);
	ring_buffer__consume(ring);
	renew_budget();
	events = 0;
	for (i = 0; i < 3; i++) {
		probe = sent(6, i);
		frame(&pkt, &probe);
		check_reason(&pkt, SRPOL_REASON_PROBE, "good");
	}
	ring_buffer__consume(ring);
	CHECK_EQ(events, 0, "nothing to tell of good ones");
	probe = sent(6, 4);
	frame(&pkt, &probe);
	bad = pkt;
	bad.b[SRH + 8 + 16 * 3 + 5] ^= 1;
	check_reason(&bad, SRPOL_REASON_PROBE_STRANGE, "another list");
	ring_buffer__consume(ring);
	CHECK_EQ(events, 1, "is told");
	CHECK_EQ(event.reason, SRPOL_REASON_PROBE_STRANGE, "which");
	CHECK_EQ(event.probe, INDEX, "whose");
	CHECK_EQ(event.seq, 4, "which one");
	CHECK_EQ(event.ifindex, LO, "where");
	CHECK_EQ(event.hop_limit, 60, "hop limit");
	CHECK_EQ(event.segs, 6, "segments");
	CHECK(!memcmp(event.list, bad.b + SRH + 8, 96), "the list");
	CHECK(!memcmp(event.saddr, bad.b + SOURCE, 16), "from where");
	check_reason(&pkt, SRPOL_REASON_PROBE, "3 is missing");
	ring_buffer__consume(ring);
	CHECK_EQ(events, 2, "the gap is told");
	CHECK_EQ(event.reason, SRPOL_REASON_PROBE, "a gap");
	for (i = 0; i < 1000; i++)
		rig_uplink(&pkt, NULL);
	ring_buffer__consume(ring);
	CHECK(events > 2 && events <= 2 + 2 * 4, "%u of 1000: limited", events);
	/* but not so that another sort is not told */
	renew_budget();
	for (i = 0; i < 100; i++)
		rig_uplink(&pkt, NULL);
	rig_uplink(&bad, NULL);
	ring_buffer__consume(ring);
	CHECK_EQ(event.reason, SRPOL_REASON_PROBE_STRANGE, "the last one");
}

static const struct ktap_test tests[] = {
	{ "good ones are counted and end here", test_good },
	{ "RTT: least, smoothed, histogram", test_rtt },
	{ "congestion marks are counted", test_ce },
	{ "a long one", test_long },
	{ "each counts once, and only what was sent", test_replay },
	{ "the order they come in", test_order },
	{ "without the tag of this host", test_forged },
	{ "another list, source, device or index", test_strange },
	{ "what is no probe", test_malformed },
	{ "random bytes", test_random_bytes },
	{ "sr-source does not keep them out", test_domain },
	{ "anomalies are told, not all of them", test_events },
};

int main(void)
{
	rig_open_only("srpol_uplink");
	if (sodium_init() < 0)
		return 1;
	table = mmap(NULL, SRPOL_MAX_PROBES * sizeof(*table),
		     PROT_READ | PROT_WRITE, MAP_SHARED, rig_map("probes"), 0);
	ring = ring_buffer__new(rig_map("probe_events"), take, NULL, NULL);
	if (table == MAP_FAILED || !ring) {
		perror("maps");
		return 1;
	}
	return ktap_main(tests, ARRAY_SIZE(tests));
}
