// SPDX-License-Identifier: GPL-2.0
/*
 * Whether what a color may not send at once waits in the NICs, or is dropped; and what
 * becomes of limits without a plan.
 */
#include <net/if.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "limit.h"
#include "srpold.h"
#include "test.h"

#define COLOR	7
#define RATE	1000000000ull
#define LIMITS	1	/* descriptors of the test's maps */
#define COUNT	2

static struct srpol_node nodes[] = { { .name = "A" }, { .name = "B" } };
static struct srpol_nic nics[] = {
	{ .name = "first", .host = 0 }, { .name = "second", .host = 0 },
	{ .name = "theirs", .host = 1 },
};
static struct srpol_gpu gpus[] = { { .host = 0 }, { .host = 1 } };
static struct srpol_fabric fabric = {
	.nodes = nodes, .n_nodes = 2, .nics = nics, .n_nics = 3,
	.gpus = gpus, .n_gpus = 2,
};
static struct srpol_limit_rate rate = { .color = COLOR, .rate = RATE };
static struct follow_plan plan = {
	.index = { .limits = &rate, .n_limits = 1 },
};
static struct follow follow[2];
static struct engine engine = { .fabric = &fabric };

static unsigned int ifindex[2];	/* of A's NICs, 0: it is away */
static int paced[2];		/* what the kernel says of them */
static struct srpol_limit limit;
static bool is_there;
static uint32_t count;		/* limits that there are, as the data plane is told */
static pthread_t main_thread;
static unsigned int beats;
static atomic_uint asked;
static struct alarm *again;
static struct source *aside;

bool engine_is_local(const struct engine *e, uint32_t node)
{
	return !node;
}

unsigned int __wrap_if_nametoindex(const char *name);

unsigned int __wrap_if_nametoindex(const char *name)
{
	assert_string_not_equal(name, "theirs");
	return ifindex[!strcmp(name, "second")];
}

/* Whoever asks aside must not say that the loop goes on. */
void notify(const char *text)
{
	assert_string_equal(text, "WATCHDOG=1");
	assert_true(pthread_equal(pthread_self(), main_thread));
	beats++;
}

/* The kernel knows no queues of a device that is not there. */
int srpol_dev_paced(unsigned int index, struct srpol_error *err)
{
	asked++;
	if (pthread_equal(pthread_self(), main_thread)) {
		/* what this one takes counts from now */
		assert_true(beats);
		beats = 0;
	}
	return !index ? 0 : paced[index == ifindex[1]];
}

const struct follow *plan_following(uint32_t number)
{
	return &follow[number];
}

uint32_t plan_host(uint32_t number)
{
	return number;
}

bool plan_is_followed(void)
{
	return engine.config.fabric.is_set;
}

int srpol_map_open(const char *name)
{
	return strcmp(name, "limits") ? COUNT : LIMITS;
}

void srpol_map_close(int fd)
{
}

int srpol_map_lookup(int fd, const void *key, void *value)
{
	if (fd == COUNT)
		memcpy(value, &count, sizeof(count));
	else if (is_there)
		memcpy(value, &limit, sizeof(limit));
	return 0;
}

int srpol_map_update(int fd, const void *key, const void *value)
{
	if (fd == COUNT) {
		memcpy(&count, value, sizeof(count));
		return 0;
	}
	assert_int_equal(*(const uint32_t *)key, COLOR);
	memcpy(&limit, value, sizeof(limit));
	is_there = true;
	return 0;
}

int srpol_map_next(int fd, void *key, size_t size, bool first, void *value)
{
	if (!first || !is_there)
		return -1;
	memcpy(key, &rate.color, size);
	memcpy(value, &limit, sizeof(limit));
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	assert_int_equal(*(const uint32_t *)key, COLOR);
	is_there = false;
	return 0;
}

int alarm_set(struct alarm *alarm, uint64_t ns)
{
	again = alarm;
	return 0;
}

void alarm_stop(struct alarm *alarm)
{
}

int loop_add(struct source *source, uint32_t events)
{
	aside = source;
	return 0;
}

void loop_remove(struct source *source)
{
}

uint64_t now_ns(void)
{
	return 1;
}

void log_error(const char *fmt, ...)
{
}

static int set_up(void **state)
{
	ifindex[0] = 10;
	ifindex[1] = 11;
	paced[0] = paced[1] = 1;
	is_there = false;
	count = beats = 0;
	main_thread = pthread_self();
	memset(&limit, 0, sizeof(limit));
	engine.config.n_hosts = 1;
	engine.config.fabric.is_set = true;
	follow[0].now = &plan;
	follow[1].now = NULL;
	return 0;
}

static void start(void)
{
	limits_start(&engine);
	limits_stop();
}

/* Whether packets of the color wait, after a look */
static bool waits(void)
{
	start();
	assert_true(is_there);
	assert_int_equal(limit.rate, RATE);
	return limit.horizon;
}

static void test_all(void **state)
{
	assert_true(waits());
	paced[1] = 0;
	assert_false(waits());
	paced[0] = 0;
	paced[1] = 1;
	assert_false(waits());
}

/* No packet leaves by a NIC that is away. */
static void test_away(void **state)
{
	ifindex[1] = 0;
	assert_true(waits());
	paced[0] = 0;
	assert_false(waits());
	ifindex[0] = 0;
	ifindex[1] = 11;
	assert_true(waits());
}

/* Without an answer it is as it was. */
static void test_no_answer(void **state)
{
	assert_true(waits());
	paced[1] = -12;
	assert_true(waits());
	paced[1] = 0;
	assert_false(waits());
	paced[1] = -12;
	assert_false(waits());
}

/* So it is with no NIC there that could be asked. */
static void test_none_there(void **state)
{
	assert_true(waits());
	ifindex[0] = ifindex[1] = 0;
	paced[0] = paced[1] = 0;
	assert_true(waits());
	ifindex[0] = 10;
	assert_false(waits());
	ifindex[0] = 0;
	paced[0] = paced[1] = 1;
	assert_false(waits());
}

/* The plan on disk is lost, say: what was limited is not free of it until another comes. */
static void test_no_plan(void **state)
{
	assert_true(waits());
	assert_int_equal(count, 1);
	follow[0].now = NULL;
	assert_true(waits());
	assert_int_equal(count, 1);
	paced[1] = 0;
	assert_false(waits());
	assert_int_equal(count, 1);
	/* one that follows none has none */
	engine.config.fabric.is_set = false;
	start();
	assert_false(is_there);
	assert_int_equal(count, 0);
}

/* All hosts here are of one shard, and what they may send is one limit. */
static void test_one_without(void **state)
{
	engine.config.n_hosts = 2;
	start();
	assert_true(is_there);
	assert_int_equal(limit.rate, 2 * RATE);
	follow[1].now = &plan;
	start();
	assert_int_equal(limit.rate, 2 * RATE);
	follow[0].now = NULL;
	start();
	assert_int_equal(limit.rate, 2 * RATE);
	assert_int_equal(count, 1);
}

/*
 * Somebody holds the RTNL: at the start, what one NIC takes does not add up with what
 * others take, nor with what comes next. Later they are asked aside.
 */
static void test_beats(void **state)
{
	limits_start(&engine);
	assert_int_equal(beats, 1);
	asked = beats = 0;
	again->ring(again->data);
	while (asked < ARRAY_SIZE(ifindex))
		usleep(1000);
	aside->ready(aside, EPOLLIN);
	limits_stop();
	assert_int_equal(beats, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_all, set_up),
		cmocka_unit_test_setup(test_away, set_up),
		cmocka_unit_test_setup(test_no_answer, set_up),
		cmocka_unit_test_setup(test_none_there, set_up),
		cmocka_unit_test_setup(test_no_plan, set_up),
		cmocka_unit_test_setup(test_one_without, set_up),
		cmocka_unit_test_setup(test_beats, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
