// SPDX-License-Identifier: GPL-2.0
/*
 * Probes that a peer reflects: epochs, what the peer counted before us, and a
 * peer's word in the report. The data plane's maps are memory of the test's.
 */
#include <sodium.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probing.h"
#include "srpold.h"
#include "test.h"

#define ID	5	/* of the path */

static struct srpol_nic nics[2] = { { .host = 0 }, { .host = 1 } };
static struct srpol_fabric fabric = { .nics = nics, .n_nics = 2 };
static struct srpol_probe probes[SRPOL_MAX_PROBES];
static struct srpol_far fars[SRPOL_MAX_PROBES];
static struct engine_path paths[1];
static struct host_key key = { .host = 0, .peer = 1 };
static struct engine engine;
static struct uplink uplink;
static struct source *ticker;
static uint64_t clock_ns, packets;
static int wire;

/* ---- what it needs of the rest */

void log_notice(const char *fmt, ...)
{
}

int srpol_error_set(struct srpol_error *err, int code, const char *fmt, ...)
{
	return code;
}

uint64_t now_ns(void)
{
	return clock_ns;
}

int timer_open(struct source *source, uint64_t first_ns, uint64_t every_ns)
{
	source->fd = dup(0);
	ticker = source;
	return 0;
}

uint64_t timer_take(const struct source *source)
{
	return 1;
}

void loop_remove(struct source *source)
{
}

struct uplink *uplink_of(uint32_t nic)
{
	return &uplink;
}

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
}

uint32_t prober_count(void)
{
	return 1;
}

struct srpol_probe *probe_map_at(uint32_t index)
{
	return &probes[index];
}

void reflect_map_open(void)
{
	memset(fars, 0, sizeof(fars));
}

void reflect_map_close(void)
{
}

bool reflect_map_is_there(void)
{
	return true;
}

struct srpol_far *reflect_map_at(uint32_t index)
{
	return &fars[index];
}

int reflect_map_pairs(const struct engine *e, struct srpol_error *err)
{
	return 0;
}

const struct host_key *reflect_key(const struct engine *e, uint32_t host,
				   uint32_t peer)
{
	return &key;
}

int srpol_map_open(const char *name)
{
	return 1;
}

void srpol_map_close(int fd)
{
}

int srpol_map_lookup(int fd, const void *k, void *value)
{
	memset(value, 0, sizeof(struct srpol_quality));
	return 0;
}

int srpol_map_sum(int fd, uint32_t id, void *sum, size_t len)
{
	struct srpol_counter *c = sum;

	c->packets = packets;
	c->bytes = 0;
	return 0;
}

/* ---- the test's side */

static struct srpol_far *far_of(void)
{
	return &fars[reflect_of(&paths[0])->ssid];
}

static int set_up(void **state)
{
	int fds[2];

	(void)state;
	memset(fars, 0, sizeof(fars));
	memset(paths, 0, sizeof(paths));
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds))
		return -1;
	uplink.source.fd = fds[0];
	wire = fds[1];
	packets = 0;
	paths[0] = (struct engine_path){ .id = ID, .peer = 1, .up = true };
	paths[0].far.n = 3;
	engine = (struct engine){ .fabric = &fabric };
	engine.paths = (struct vec){ .data = paths, .n = 1,
				     .size = sizeof(paths[0]) };
	engine.config.reflect.interval_ns = NS_PER_MS;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	reflect_stop();
	close(uplink.source.fd);
	close(wire);
	return 0;
}

/* Peers turn each epoch's probes round once, and none of an older one. */
static void epochs_grow(void **state)
{
	const uint64_t ahead = 1ull << 62;
	uint64_t first;

	(void)state;
	assert_int_equal(reflect_start(&engine, NULL), 0);
	first = far_of()->epoch;
	assert_true(first > 0);
	reflect_stop();
	assert_int_equal(reflect_start(&engine, NULL), 0);
	assert_true(far_of()->epoch > first);
	reflect_stop();
	/* the process before this one had a clock that was ahead */
	fars[17].epoch = ahead;
	assert_int_equal(reflect_start(&engine, NULL), 0);
	assert_true(far_of()->epoch > ahead);
	/* a data plane that knows nothing */
	assert_int_equal(reflect_begin_anew(NULL), 0);
	assert_true(far_of()->epoch > ahead + 1);
}

/* Sequence numbers have 31 bits; peers take a smaller one for an old one. */
static void numbers_end(void **state)
{
	struct reflected *r;
	uint64_t epoch;

	(void)state;
	assert_int_equal(reflect_start(&engine, NULL), 0);
	epoch = far_of()->epoch;
	r = (struct reflected *)reflect_of(&paths[0]);
	r->seq = SRPOL_PROBE_SEQ_LONG - 2;
	clock_ns += NS_PER_MS;
	ticker->ready(ticker, 0);
	assert_int_equal(r->seq, SRPOL_PROBE_SEQ_LONG - 1);
	assert_int_equal(far_of()->epoch, epoch);
	clock_ns += NS_PER_MS;
	ticker->ready(ticker, 0);
	assert_int_equal(r->seq, 0);
	assert_true(far_of()->epoch > epoch);
}

/* Of words in network order, carried over once and again. */
static u32 sum_of(const u8 *words, size_t n, u32 sum)
{
	size_t i;

	for (i = 0; i < n; i += 2)
		sum += words[i] << 8 | words[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* The peer verifies a tag over what is in the probe and over its segment list. */
static void on_the_wire(void **state)
{
	enum { LISTED = 14 + 40 + 8, UDP = LISTED + 3 * 16, SIGNED = 80, TAG = 8 };
	u8 frame[1024], m[SIGNED + 3 * 16], tag[crypto_shorthash_BYTES];
	size_t len, i, k;

	(void)state;
	for (i = 0; i < 3; i++)
		for (k = 0; k < 16; k++)
			paths[0].far.sid[i].s6_addr[k] = 16 * i + k + 1;
	for (k = 0; k < sizeof(key.key); k++)
		key.key[k] = k;
	assert_int_equal(reflect_start(&engine, NULL), 0);
	clock_ns += NS_PER_MS;
	ticker->ready(ticker, 0);
	len = recv(wire, frame, sizeof(frame), MSG_DONTWAIT);
	assert_int_equal(len, UDP + 8 + SIGNED + TAG);
	assert_memory_equal(frame + 14 + 24, &paths[0].far.sid[0], 16);
	for (i = 0; i < 3; i++)
		assert_memory_equal(frame + LISTED + 16 * i,
				    &paths[0].far.sid[2 - i], 16);
	memcpy(m, frame + UDP + 8, SIGNED);
	memcpy(m + SIGNED, frame + LISTED, 3 * 16);
	crypto_shorthash(tag, m, sizeof(m), key.key);
	assert_memory_equal(frame + len - TAG, tag, TAG);
	/* source, the last segment, length and protocol; then UDP */
	assert_int_equal(sum_of(frame + UDP, len - UDP,
				sum_of(frame + 14 + 8, 16,
				       sum_of(frame + LISTED, 16,
					      len - UDP + 17))), 0xffff);
}

static uint32_t ppm(void)
{
	return quality_marks_ppm(&paths[0].window, QUALITY_PATH_CE);
}

static void sent_and_marked(uint64_t n, uint64_t marked)
{
	packets += n;
	far_of()->reached++;
	far_of()->path_ce += marked;
	marks_read(&engine);
}

/* The peer counts for as long as it is up: that is no congestion of now. */
static void marks_of_before(void **state)
{
	(void)state;
	assert_int_equal(reflect_start(&engine, NULL), 0);
	marks_read(&engine);
	packets += 10;
	marks_read(&engine);
	sent_and_marked(10, 1000000);
	assert_int_equal(ppm(), 0);
	sent_and_marked(20, 10);
	assert_int_equal(ppm(), 10 * 1000000 / 40);
	/* asked anew */
	assert_int_equal(reflect_begin_anew(NULL), 0);
	paths[0].window = (struct quality_window){};
	marks_read(&engine);
	sent_and_marked(10, 1000010);
	assert_int_equal(ppm(), 0);
	sent_and_marked(10, 5);
	assert_int_equal(ppm(), 250000);
}

/* Whatever a peer says, it is a number of hops. */
static void hops(void **state)
{
	struct srpol_probe *p;
	json_t *o;

	(void)state;
	assert_int_equal(reflect_start(&engine, NULL), 0);
	p = &probes[reflect_of(&paths[0])->ssid];
	p->received = 1;
	p->hop_limit = 255;
	far_of()->hop_limit = 255;
	o = reflect_report(&paths[0]);
	assert_int_equal(json_integer_value(json_object_get(o, "hops_there")),
			 0);
	assert_int_equal(json_integer_value(json_object_get(o, "hops")), 0);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(epochs_grow, set_up, tear_down),
		cmocka_unit_test_setup_teardown(numbers_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(on_the_wire, set_up, tear_down),
		cmocka_unit_test_setup_teardown(marks_of_before, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(hops, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
