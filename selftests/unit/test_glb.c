// SPDX-License-Identifier: GPL-2.0
/*
 * What hosts tell each other of links: bytes that were changed, sent the other
 * way, or recorded; two hosts on a wire that loses, repeats and swaps messages.
 */
#include <errno.h>
#include <string.h>

#include "glb.h"
#include "test.h"

static const uint8_t pair[16] = { 1, 2, 3 };
static uint8_t there[GLB_KEY_LEN], back[GLB_KEY_LEN];

static int set_up(void **state)
{
	(void)state;
	glb_key(pair, sizeof(pair), "A", "B", there);
	glb_key(pair, sizeof(pair), "B", "A", back);
	return 0;
}

static void test_bytes(void **state)
{
	struct glb_message m = { .type = GLB_WORDS, .n = 2, .seq = 7,
				 .from = 0x123456789abcdef0, .to = 99,
				 .words = { { glb_hash("a b"), 1 },
					    { glb_hash("a c"), 99 } } }, got;
	uint8_t bytes[GLB_MESSAGE_MAX], bad[GLB_MESSAGE_MAX + 1];
	size_t len = glb_write(&m, there, bytes), i;
	unsigned int bit;

	(void)state;
	assert_int_equal(glb_read(bytes, len, there, &got), 0);
	assert_int_equal(got.type, m.type);
	assert_int_equal(got.seq, 7);
	assert_true(got.from == m.from && got.to == m.to);
	assert_int_equal(got.n, 2);
	for (i = 0; i < 2; i++)
		assert_true(got.words[i].cable == m.words[i].cable &&
			    got.words[i].percent == m.words[i].percent);
	/* it does not count where it came from, nor of another pair */
	assert_int_equal(glb_read(bytes, len, back, &got), -EACCES);
	for (i = 0; i < len; i++) {
		for (bit = 0; bit < 8; bit++) {
			memcpy(bad, bytes, len);
			bad[i] ^= 1 << bit;
			assert_int_not_equal(glb_read(bad, len, there, &got),
					     0);
		}
	}
	for (i = 0; i < len; i++)
		assert_int_not_equal(glb_read(bytes, i, there, &got), 0);
	memcpy(bad, bytes, len);
	bad[len] = 0;
	assert_int_equal(glb_read(bad, len + 1, there, &got), -EINVAL);
}

/* Names run together are another pair's, and so is another key. */
static void test_keys(void **state)
{
	uint8_t a[GLB_KEY_LEN], b[GLB_KEY_LEN];
	uint8_t other[sizeof(pair)] = { 1, 2, 4 };

	(void)state;
	glb_key(pair, sizeof(pair), "A1", "2B", a);
	glb_key(pair, sizeof(pair), "A12", "B", b);
	assert_memory_not_equal(a, b, sizeof(a));
	glb_key(pair, sizeof(pair), "A", "12B", b);
	assert_memory_not_equal(a, b, sizeof(a));
	glb_key(other, sizeof(other), "A1", "2B", b);
	assert_memory_not_equal(a, b, sizeof(a));
}

/* What was said last is acknowledged only by an acknowledgement of just that. */
static void test_ack(void **state)
{
	struct glb_session s = { .own = 1, .peer = 2, .seq = 7,
				 .pending = true };
	struct glb_message m = { .type = GLB_ACK, .from = 2, .to = 1,
				 .seq = 6 };

	(void)state;
	assert_int_equal(glb_take(&s, &m), GLB_STALE);
	m.seq = 8;
	assert_int_equal(glb_take(&s, &m), GLB_STALE);
	m.seq = 7;
	/* of a session that is not the one it was said to */
	m.from = 3;
	assert_int_equal(glb_take(&s, &m), GLB_STALE);
	m.from = 2;
	m.to = 9;
	assert_int_equal(glb_take(&s, &m), GLB_STALE);
	assert_true(s.pending);
	m.to = 1;
	assert_int_equal(glb_take(&s, &m), GLB_DONE);
	assert_false(s.pending);
	assert_int_equal(glb_take(&s, &m), GLB_STALE);
	assert_int_equal(s.peer, 2);
}

/* What has the right tag and makes no sense. */
static void test_nonsense(void **state)
{
	static const struct glb_message bad[] = {
		{ .type = 0, .from = 1 },
		{ .type = GLB_ACK + 1, .from = 1 },
		{ .type = GLB_HELLO },
		{ .type = GLB_HELLO, .from = 1, .n = 1,
		  .words = { { 1, 50 } } },
		{ .type = GLB_WORDS, .from = 1, .n = 1 },
		{ .type = GLB_WORDS, .from = 1, .n = 1,
		  .words = { { 1, 100 } } },
	};
	uint8_t bytes[GLB_MESSAGE_MAX];
	struct glb_message got;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(glb_read(bytes, glb_write(&bad[i], there,
							   bytes),
					  there, &got), -EINVAL);
}

/**
 * struct host - one end
 * @s: its session
 * @words: number that says what it has to say
 * @heard: what the other one said
 * @counted: words that counted
 */
struct host {
	struct glb_session s;
	uint32_t words;
	uint32_t heard;
	unsigned int counted;
};

#define WIRE	256

static struct {
	struct glb_message m;
	struct host *to;
} wire[WIRE];
static unsigned int on_wire;

static void put(struct host *from, struct host *to, struct glb_message m)
{
	m.from = from->s.own;
	if (on_wire == WIRE)
		return;
	wire[on_wire].m = m;
	wire[on_wire++].to = to;
}

static void send_words(struct host *from, struct host *to)
{
	struct glb_message m = { .type = from->s.peer ? GLB_WORDS : GLB_HELLO,
				 .to = from->s.peer, .seq = from->s.seq };

	if (from->s.peer) {
		m.n = 1;
		m.words[0].cable = from->words;
		m.words[0].percent = 50;
	}
	put(from, to, m);
}

static void tell(struct host *from, struct host *to)
{
	from->s.seq++;
	from->s.pending = true;
	send_words(from, to);
}

static void take(struct host *h, struct host *peer,
		 const struct glb_message *m)
{
	struct glb_message ack = { .type = GLB_ACK, .to = m->from,
				   .seq = m->seq };
	struct glb_message hello = { .type = GLB_HELLO, .to = m->from };
	enum glb_verdict v = glb_take(&h->s, m);

	if (v == GLB_TAKE || v == GLB_TAKE_SEND) {
		h->heard = m->words[0].cable;
		h->counted++;
	}
	if (v == GLB_TAKE || v == GLB_TAKE_SEND || v == GLB_AGAIN)
		put(h, peer, ack);
	if (v == GLB_GREET)
		put(h, peer, hello);
	if (v == GLB_SEND || v == GLB_TAKE_SEND)
		tell(h, peer);
}

/* Until nothing is on the way; some are lost, some come twice, in any order. */
static void deliver(struct host *a, struct host *b, uint64_t *seed,
		    bool bad_wire)
{
	unsigned int i, n = 0;
	struct glb_message m;
	struct host *to;

	while (on_wire && n++ < 2000) {
		i = test_random(seed) % on_wire;
		m = wire[i].m;
		to = wire[i].to;
		if (!bad_wire || test_random(seed) % 4)
			wire[i] = wire[--on_wire];
		if (!bad_wire || test_random(seed) % 3)
			take(to, to == a ? b : a, &m);
	}
	on_wire = 0;
}

/* After all is said, both know what the other one said last. */
static void test_wire(void **state)
{
	struct host a, b;
	uint64_t seed;
	unsigned int round, i;

	(void)state;
	for (seed = 1; seed < 300; seed++) {
		uint64_t random = seed;

		a = (struct host){ .s.own = 1000 + seed };
		b = (struct host){ .s.own = 2000 + seed };
		tell(&a, &b);
		tell(&b, &a);
		for (round = 1; round < 20; round++) {
			/* one of them began anew */
			if (!(test_random(&random) % 5)) {
				b = (struct host){
					.s.own = 3000 + 100 * seed + round };
				tell(&b, &a);
			}
			a.words = round;
			b.words = 100 + round;
			tell(&a, &b);
			tell(&b, &a);
			deliver(&a, &b, &random, true);
			for (i = 0; i < 100 && (a.s.pending || b.s.pending);
			     i++) {
				if (a.s.pending)
					send_words(&a, &b);
				if (b.s.pending)
					send_words(&b, &a);
				deliver(&a, &b, &random, i < 50);
			}
			assert_false(a.s.pending || b.s.pending);
			assert_int_equal(a.heard, b.words);
			assert_int_equal(b.heard, a.words);
		}
	}
}

/* Nothing that was recorded counts, in this session or in the next one. */
static void test_replay(void **state)
{
	struct host a = { .s.own = 1, .words = 5 };
	struct host b = { .s.own = 2, .words = 6 };
	struct glb_message recorded[WIRE];
	unsigned int n = 0, i, counted;
	uint64_t seed = 1;

	(void)state;
	tell(&a, &b);
	while (on_wire) {
		struct host *to = wire[0].to;

		recorded[n++] = wire[0].m;
		memmove(wire, wire + 1, --on_wire * sizeof(wire[0]));
		take(to, to == &a ? &b : &a, &recorded[n - 1]);
	}
	assert_int_equal(b.heard, 5);
	assert_int_equal(a.heard, 6);
	counted = b.counted;
	for (i = 0; i < n; i++)
		if (recorded[i].from == a.s.own)
			take(&b, &a, &recorded[i]);
	on_wire = 0;
	assert_int_equal(b.counted, counted);
	b = (struct host){ .s.own = 3 };
	for (i = 0; i < n; i++)
		if (recorded[i].from == a.s.own)
			take(&b, &a, &recorded[i]);
	assert_int_equal(b.counted, 0);
	assert_true(b.s.peer == 0);
	/* its hellos reach the real one, which says what it has to say */
	deliver(&a, &b, &seed, false);
	assert_int_equal(b.heard, 5);
}

/*
 * B began anew while A did not: what its first session said names A's session,
 * which is still the same, and must not count any more. Nor may it have A forget
 * what of the second one counted.
 */
static void test_replay_old_session(void **state)
{
	struct host a = { .s.own = 1, .words = 5 };
	struct host b = { .s.own = 2, .words = 6 };
	struct glb_message recorded[2 * WIRE];
	unsigned int n = 0, i, counted, round;
	uint64_t seed = 1;

	(void)state;
	for (round = 0; round < 2; round++) {
		tell(&b, &a);
		for (i = 0; on_wire; i++) {
			struct host *to = wire[0].to;

			recorded[n++] = wire[0].m;
			memmove(wire, wire + 1, --on_wire * sizeof(wire[0]));
			take(to, to == &a ? &b : &a, &recorded[n - 1]);
		}
		assert_int_equal(a.heard, b.words);
		if (!round)
			b = (struct host){ .s.own = 3, .words = 7 };
	}
	counted = a.counted;
	for (round = 0; round < 3; round++) {
		for (i = 0; i < n; i++)
			if (recorded[i].from == 2 || recorded[i].from == 3)
				take(&a, &b, &recorded[i]);
		deliver(&a, &b, &seed, false);
	}
	assert_int_equal(a.counted, counted);
	assert_int_equal(a.heard, 7);
	assert_true(a.s.peer == 3);
}

/* However often B begins anew, what any of its sessions said does not count. */
static void test_replay_many_sessions(void **state)
{
	struct host a = { .s.own = 1, .words = 5 }, b;
	struct glb_message recorded[100];
	uint64_t seed = 1;
	unsigned int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		b = (struct host){ .s.own = 1000 + i, .words = i };
		tell(&b, &a);
		deliver(&a, &b, &seed, false);
		assert_int_equal(a.heard, i);
		assert_int_equal(b.heard, 5);
		assert_false(a.s.pending || b.s.pending);
		/* what it says next A does not hear: somebody has it */
		recorded[i] = (struct glb_message){
			.type = GLB_WORDS, .n = 1, .seq = 1000,
			.from = b.s.own, .to = a.s.own,
			.words = { { 4711, 50 } } };
	}
	for (i = 0; i < 99; i++) {
		take(&a, &b, &recorded[i]);
		deliver(&a, &b, &seed, false);
		assert_int_equal(a.heard, 99);
	}
	b.words = 4;
	tell(&b, &a);
	deliver(&a, &b, &seed, false);
	assert_int_equal(a.heard, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_ack),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_wire),
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_replay_old_session),
		cmocka_unit_test(test_replay_many_sessions),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
