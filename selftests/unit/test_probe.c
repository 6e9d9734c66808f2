// SPDX-License-Identifier: GPL-2.0
/*
 * Probes that come back, and what pretends to be one: the engine's own prober
 * with a clock, a socket and a fabric of the test's.
 */
#include "test_prober.h"

static struct engine_path *path(void)
{
	return engine_path(&engine, 0);
}

static int set_up(void **state)
{
	static struct engine_path paths[MANY];
	int fds[2], i;

	(void)state;
	assert_int_equal(probe_init(), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0,
				    fds), 0);
	wire = fds[1];
	memset(paths, 0, sizeof(paths));
	memset(&prober_stats, 0, sizeof(prober_stats));
	verdicts = 0;
	engine = (struct engine){
		.config = { .interval_ns = 10 * MS, .timeout_ns = 10 * MS,
			    .budget = 1000,
			    .live = { .multiplier = 3, .restore_ns = 100 * MS,
				      .restore_max_ns = 100 * MS,
				      .calm_ns = 100 * MS } },
		.fabric = &fabric,
		.paths = { .data = paths, .n = 1, .size = sizeof(paths[0]) },
	};
	for (i = 0; i < 2; i++)
		uplinks[i] = (struct uplink){
			.source = { .fd = fds[0], .ready = not_ready },
			.nic = i, .engine = &engine,
		};
	paths[0].up = true;
	paths[0].loop.n = 4;
	for (i = 0; i < 4; i++)
		paths[0].loop.sid[i].s6_addr[15] = i + 1;
	liveness_init(&paths[0].live, clock_ns);
	assert_int_equal(prober_start(&engine, NULL), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	prober_stop();
	close(wire);
	close(uplinks[0].source.fd);
	return 0;
}

/* A millisecond passes. @return: length of the probe that was sent, or 0 */
static size_t step(uint8_t *frame)
{
	uint8_t buf[PROBE_MAX];
	ssize_t len;

	clock_ns += MS;
	ticker->ready(ticker, 0);
	len = recv(wire, frame ?: buf, PROBE_MAX, 0);
	return len < 0 ? 0 : len;
}

/* The next probe, as the fabric brings it back: all segments are behind it. */
static size_t next_probe(uint8_t *frame)
{
	size_t len;

	do
		len = step(frame);
	while (!len);
	memcpy(frame + 14 + 24, frame + 14 + 40 + 8, 16);
	frame[14 + 40 + 3] = 0;
	return len;
}

/* In memory of its very size, so that nothing behind it is read unseen. */
static void receive(const uint8_t *frame, size_t len)
{
	uint8_t *copy = malloc(len ?: 1);

	memcpy(copy, frame, len);
	prober_receive(&uplinks[0], copy, len);
	free(copy);
}

static void test_answers(void **state)
{
	uint8_t frame[PROBE_MAX];
	size_t len;
	int i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		len = next_probe(frame);
		clock_ns += 20000;
		receive(frame, len);
	}
	assert_int_equal(path()->stats.received, 1000);
	assert_int_equal(path()->stats.lost, 0);
	assert_int_equal(table[0].rtt_min_ns, 20000);
	assert_int_equal(prober_stats.by_socket, 1000);
	assert_int_equal(path()->window.base_ns, 20000);
	assert_int_equal(verdicts, 0);
}

/* A bond's active NIC fails: the first probe lost is the last one of the old address. */
static void test_address(void **state)
{
	uint8_t frame[PROBE_MAX];
	uint8_t i;

	(void)state;
	for (i = 0; i < 10; i++) {
		address[5] = i;
		next_probe(frame);
		next_probe(frame);
		assert_memory_equal(frame + sizeof(address), address, sizeof(address));
	}
}

/* The same answer again, a very old one, one that is late. */
static void test_stale(void **state)
{
	uint8_t first[PROBE_MAX], frame[PROBE_MAX];
	size_t len;
	int i;

	(void)state;
	len = next_probe(first);
	receive(first, len);
	receive(first, len);
	assert_int_equal(prober_stats.stale, 1);
	assert_int_equal(table[0].received, 1);
	for (i = 0; i < 3 * IN_FLIGHT; i++) {
		len = next_probe(frame);
		receive(frame, len);
		receive(first, len);
	}
	assert_int_equal(path()->stats.received, 1 + 3 * IN_FLIGHT);
	assert_int_equal(prober_stats.stale, 1 + 3 * IN_FLIGHT);
	/* late: not lost on the way, but it does not count as an answer */
	len = next_probe(first);
	next_probe(frame);
	next_probe(frame);
	receive(first, len);
	assert_int_equal(path()->stats.late, 1);
	assert_in_range(path()->stats.lost, 1, 2);
	receive(first, len);
	assert_int_equal(path()->stats.late, 1);
	assert_int_equal(prober_stats.stale, 2 + 3 * IN_FLIGHT);
}

/* Who recorded answers cannot keep a dead path alive with them. */
static void test_replay(void **state)
{
	uint8_t frame[8][PROBE_MAX], dead[PROBE_MAX];
	size_t len;
	int i;

	(void)state;
	for (i = 0; i < 8; i++) {
		len = next_probe(frame[i]);
		receive(frame[i], len);
	}
	for (i = 0; i < 100; i++) {
		step(dead);
		receive(frame[i % 8], len);
	}
	assert_false(liveness_usable(&path()->live));
	assert_int_equal(verdicts, 1);
	/* nor bring it back */
	for (i = 0; i < 1000; i++) {
		step(dead);
		receive(frame[i % 8], len);
	}
	assert_int_equal(path()->live.state, LIVENESS_DOWN);
}

/* What is up again begins with a clean sheet. */
static void test_return(void **state)
{
	uint8_t frame[PROBE_MAX];
	size_t len;

	(void)state;
	while (liveness_usable(&path()->live))
		step(NULL);
	while (!liveness_usable(&path()->live)) {
		len = next_probe(frame);
		receive(frame, len);
	}
	assert_in_range(path()->stats.lost, 3, 1000);
	assert_int_equal(path()->closed_lost, path()->stats.lost);
	assert_int_equal(path()->closed_sent, path()->stats.sent);
	/* that it was down was told; that it is up is with the next tick */
	assert_int_equal(verdicts, 1);
	step(NULL);
	assert_int_equal(verdicts, 2);
	step(NULL);
	assert_int_equal(verdicts, 2);
}

/* XDP enters a probe that was sent at its time. */
static void enter(uint32_t seq)
{
	struct srpol_probe_slot *slot = &table[0].slot[seq % IN_FLIGHT];

	assert_true(srpol_probe_came(&table[0], seq, slot->sent_ns, clock_ns,
				     0, 60) >= 0);
}

/* What XDP entered is found at the next tick, whatever else it does then. */
static void test_xdp(void **state)
{
	uint8_t frame[PROBE_MAX];
	uint32_t i, seq;

	(void)state;
	for (i = 0; i < 300; i++) {
		next_probe(frame);
		seq = path()->seq - 1;
		assert_int_equal(table[0].slot[seq % IN_FLIGHT].sent_ns,
				 clock_ns);
		if (i % 3 == 1)
			continue;
		/* given up by then */
		if (i % 3 == 2)
			next_probe(frame);
		enter(seq);
		if (i % 3 == 2)
			enter(seq + 1);
		step(NULL);
	}
	/* of four probes two are answered, one is lost, one is late */
	assert_int_equal(path()->stats.sent, 400);
	assert_int_equal(path()->stats.received, 200);
	assert_int_equal(path()->stats.lost, 200);
	assert_int_equal(path()->stats.late, 100);
	assert_int_equal(table[0].received, 300);
	assert_int_equal(prober_stats.by_socket, 0);
	assert_int_equal(prober_stats.stale, 0);
}

/* Probes are answered at once for so many milliseconds. */
static void answer_for(unsigned int ms)
{
	while (ms--)
		if (step(NULL))
			enter(path()->seq - 1);
}

/*
 * Whenever it is between two probes that a path falls silent, it takes the
 * intervals of the verdict and 5 ms at most.
 */
static void test_silence(void **state)
{
	unsigned int phase, ms, most = 0, least = 1000;

	for (phase = 0; phase < 10; phase++) {
		answer_for(200 + phase);
		for (ms = 0; liveness_usable(&path()->live); ms++)
			step(NULL);
		assert_int_equal(path()->live.lost, 3);
		assert_int_equal(path()->stats.lost, 3);
		most = ms > most ? ms : most;
		least = ms < least ? ms : least;
		tear_down(state);
		set_up(state);
	}
	print_message("%u to %u ms\n", least, most);
	assert_in_range(most, 30, 35);
	assert_in_range(least, 20, 25);
}

/* A queue that grows by twice the interval at once is no failure. */
static void test_pause(void **state)
{
	unsigned int phase, ms;
	uint32_t seq;

	(void)state;
	for (phase = 0; phase < 10; phase++) {
		answer_for(200 + phase);
		seq = path()->seq;
		for (ms = 0; ms < 20; ms++)
			step(NULL);
		assert_true(liveness_usable(&path()->live));
		for (; seq != path()->seq; seq++)
			enter(seq);
	}
	assert_int_equal(verdicts, 0);
}

/* A prober that is late itself does not know what waited with it. */
static void test_late(void **state)
{
	(void)state;
	answer_for(200);
	while (path()->live.lost + (path()->seq - path()->oldest) < 3)
		step(NULL);
	clock_ns += 6 * MS;
	step(NULL);
	assert_true(liveness_usable(&path()->live));
}

/* So many are due at once that they leave several at a time. */
static int set_up_many(void **state)
{
	struct engine_path *paths;
	unsigned int i;

	set_up(state);
	prober_stop();
	paths = engine.paths.data;
	for (i = 1; i < MANY; i++) {
		paths[i] = paths[0];
		paths[i].leader = i;
		paths[i].nic = i % 5 == 0;
	}
	engine.paths.n = MANY;
	engine.config.interval_ns = 2 * MS;
	engine.config.timeout_ns = 2 * MS;
	engine.config.budget = 1000000;
	return prober_start(&engine, NULL);
}

/* A millisecond passes. Return: number of probes that were sent */
static unsigned int step_many(bool read)
{
	uint8_t frame[PROBE_MAX];
	unsigned int n = 0;

	clock_ns += MS;
	ticker->ready(ticker, 0);
	while (read && recv(wire, frame, sizeof(frame), 0) > 0)
		n++;
	return n;
}

/* Each is sent as often as the others; what the kernel does not take is not lost. */
static void test_many(void **state)
{
	uint64_t sent = 0, lost = 0, came = 0;
	struct engine_path *p = path();
	unsigned int i, ms;

	(void)state;
	for (ms = 0; ms < 100; ms++)
		came += step_many(true);
	for (i = 0; i < MANY; i++) {
		assert_in_range(p[i].stats.sent, 50, 51);
		sent += p[i].stats.sent;
	}
	assert_int_equal(came, sent);
	assert_int_equal(prober_stats.unsent, 0);
	/* nobody reads: the socket fills up */
	while (!prober_stats.unsent)
		step_many(false);
	for (ms = 0; ms < 10; ms++)
		came += step_many(true);
	sent = 0;
	for (i = 0; i < MANY; i++) {
		sent += p[i].stats.sent;
		lost += p[i].stats.lost + probes_under_way(&p[i]);
	}
	assert_int_equal(sent, came);
	assert_int_equal(lost, sent);
}

/* What a tick finds is told before it sends probes, of which there may be many. */
static void test_told_first(void **state)
{
	uint64_t sent;

	(void)state;
	verdicts = 0;
	do {
		sent = sent_by_all();
		step_many(true);
	} while (!verdicts);
	assert_int_equal(sent_when_told, sent);
	assert_in_range(sent_by_all(), sent + 1, sent + MANY);
}

/* However many fall silent at once, verdicts are told once a tick. */
static void test_many_lost(void **state)
{
	struct engine_path *p = path();
	unsigned int i, ticks = 0, left = MANY;

	(void)state;
	for (i = 0; i < MANY; i++)
		liveness_init(&p[i].live, clock_ns);
	verdicts = 0;
	while (left) {
		step_many(true);
		assert_in_range(++ticks, 1, MANY / 2);
		for (i = left = 0; i < MANY; i++)
			left += liveness_usable(&p[i].live);
	}
	assert_in_range(verdicts, 1, ticks);
}

/*
 * Probes of all paths are spread over the interval, and are so again after a stop in
 * which all of them became due.
 */
static void test_spread(void **state)
{
	unsigned int ms, n, sent = 0;

	(void)state;
	prober_stop();
	engine.config.interval_ns = MANY * MS;
	engine.config.timeout_ns = MANY * MS;
	assert_int_equal(prober_start(&engine, NULL), 0);
	for (ms = 0; ms < 3 * MANY; ms++)
		assert_in_range(step_many(true), 0, 2);
	clock_ns += 1000 * MS;
	assert_int_equal(step_many(true), MANY);
	for (ms = 0; ms < 3 * MANY; ms++) {
		n = step_many(true);
		assert_in_range(n, 0, 2);
		sent += n;
	}
	assert_int_equal(sent, 3 * MANY);
}

/* The budget is too small for the interval, which is longer then. */
static void test_budget(void **state)
{
	(void)state;
	assert_int_equal(prober_interval(), 2 * MS);
	prober_stop();
	engine.config.budget = 1000;
	assert_int_equal(prober_start(&engine, NULL), 0);
	assert_int_equal(prober_interval(), MANY * MS);
}

/* The data plane was loaded anew: the new map gets what the old one had. */
static void test_renewed(void **state)
{
	uint8_t frame[PROBE_MAX];
	size_t len, i;

	(void)state;
	len = next_probe(frame);
	receive(frame, len);
	prober_follow();
	assert_int_equal(opened, 0);
	while (liveness_usable(&path()->live))
		step(NULL);
	len = next_probe(frame);
	renewed = true;
	for (i = 0; i < 1000 && !opened; i++)
		step(NULL);
	assert_int_equal(opened, 1);
	assert_int_equal(looks, 1);
	assert_int_equal(table[0].segs, 4);
	assert_int_equal(table[0].received, 0);
	assert_int_equal(table[1].ifindex, 0);
	assert_true(liveness_usable(&path()->live));
	assert_int_equal(verdicts, 2);
	/* nobody can say any more what became of it */
	receive(frame, len);
	assert_int_equal(prober_stats.stale, 1);
	assert_int_equal(path()->live.lost, 0);
	len = next_probe(frame);
	receive(frame, len);
	assert_int_equal(path()->stats.received, 2);
}

/* Nobody can change what a probe says, or where it was. */
static void test_forged(void **state)
{
	uint8_t frame[PROBE_MAX], bad[PROBE_MAX];
	const size_t stamp = 14 + 40 + 8 + 4 * 16 + 8;
	uint64_t seed = 3, n = 0, strange;
	size_t len, i, cut;

	(void)state;
	len = next_probe(frame);
	for (i = stamp; i < len; i++) {
		/* what has no meaning is not looked at */
		if (i >= stamp + 16 && i < stamp + 44)
			continue;
		memcpy(bad, frame, len);
		bad[i] ^= 1 << test_random(&seed) % 8;
		receive(bad, len);
		assert_int_equal(prober_stats.forged, ++n);
	}
	for (cut = 0; cut < len; cut++) {
		receive(frame, cut);
		assert_int_equal(prober_stats.forged, ++n);
	}
	/* a segment list that is not the path's: wrong wiring, or a lie */
	for (i = 14 + 40 + 8; i < stamp - 8; i++) {
		strange = prober_stats.strange;
		memcpy(bad, frame, len);
		bad[i] ^= 1;
		receive(bad, len);
		assert_int_equal(prober_stats.strange, strange + 1);
	}
	/* by another NIC than it left by */
	strange = prober_stats.strange;
	prober_receive(&uplinks[1], frame, len);
	assert_int_equal(prober_stats.strange, strange + 1);
	for (i = 0; i < 200000; i++) {
		memcpy(bad, frame, len);
		for (cut = 0; cut < 8; cut++)
			bad[test_random(&seed) % len] = test_random(&seed);
		receive(bad, test_random(&seed) % (len + 1));
	}
	assert_in_range(path()->stats.received, 0, 1);
	/* another engine's key */
	if (!path()->stats.received) {
		receive(frame, len);
		assert_int_equal(path()->stats.received, 1);
	}
	len = next_probe(frame);
	assert_int_equal(probe_init(), 0);
	n = prober_stats.forged;
	receive(frame, len);
	assert_int_equal(prober_stats.forged, n + 1);
}

/* The prober was not there: it knows nothing, and says nothing. */
static void test_away(void **state)
{
	uint8_t frame[PROBE_MAX];
	int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		next_probe(frame);
		clock_ns += 10000 * MS;
	}
	assert_int_equal(verdicts, 0);
	assert_true(liveness_usable(&path()->live));
	assert_int_equal(path()->stats.lost, 0);
	assert_in_range(prober_stats.late_ticks, 90, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_answers, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_address, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stale, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_replay, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_return, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_xdp, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_silence, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_pause, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_late, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_told_first, set_up_many, tear_down),
		cmocka_unit_test_setup_teardown(test_many_lost, set_up_many, tear_down),
		cmocka_unit_test_setup_teardown(test_spread, set_up_many, tear_down),
		cmocka_unit_test_setup_teardown(test_budget, set_up_many, tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up_many,
						tear_down),
		cmocka_unit_test_setup_teardown(test_renewed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_forged, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_away, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
