// SPDX-License-Identifier: GPL-2.0
/*
 * Which topics concern which watcher: against one look at each demand for each
 * watcher, at random.
 */
#include <string.h>

#include "test.h"
#include "watchers.h"

#define GPUS		40	/* of peers; GPU 0 is this host's */
#define OWN_COLOR	100
#define JOB_COLOR	200	/* of the first job */
#define JOBS		3
#define DEMANDS		400
#define USERS		3
#define OWNERS		4
#define ROUNDS		200
#define MANY		(TOPICS_BY_SLOT + 10)

static struct srpol_nic nics[GPUS + 1];
static struct srpol_gpu gpus[GPUS + 1];
static struct srpol_fabric fabric = { .nics = nics, .gpus = gpus };
static struct engine engine = {
	.fabric = &fabric, .policies = VEC_INIT(struct engine_policy),
};
static struct topics topics = TOPICS_INIT(free);
static struct watcher watchers[TOPIC_SLOTS];
static struct lines_client *const client = (struct lines_client *)&watchers;
static uint32_t looked[4096];	/* by policy */
static bool is_followed;
static u64 seed;

/* ---- what it needs of the rest */

struct vec jobs = VEC_INIT(struct job);
struct demands demands = { .all = VEC_INIT(struct demand) };

uint64_t now_ns(void)
{
	return 1;
}

bool plan_is_followed(void)
{
	return is_followed;
}

void watch_paths_look(struct engine *e, struct topics *all, struct topic *topic,
		      uint32_t policy)
{
	looked[policy]++;
	if (!topic->content)
		topic->content = malloc(1);
}

/* ---- */

static u32 below(u32 n)
{
	return test_random(&seed) % n;
}

static struct in6_addr addr(u32 i)
{
	struct in6_addr a = { .s6_addr = { 0xfd } };

	a.s6_addr[14] = i >> 8;
	a.s6_addr[15] = i;
	return a;
}

/* Policies of the engine to the first peers, then those of each job. */
static void make_engine(u32 peers)
{
	u32 i, j;

	engine.config.n_hosts = 1;
	engine.policies.n = 0;
	jobs.n = 0;
	for (i = 0; i <= GPUS; i++) {
		nics[i] = (struct srpol_nic){ .addr = addr(i) };
		gpus[i] = (struct srpol_gpu){ .nic = i };
	}
	for (j = 0; j < JOBS; j++)
		*(struct job *)vec_add(&jobs) =
			(struct job){ .color = JOB_COLOR + j };
	for (j = 0; j <= JOBS; j++)
		for (i = 1; i <= peers; i++)
			*(struct engine_policy *)vec_add(&engine.policies) =
				(struct engine_policy){
					.dst = i, .endpoint = addr(i),
					.color = j ? JOB_COLOR + j - 1 :
						 OWN_COLOR,
				};
}

static void make_demands(u32 n)
{
	struct demand *d;
	u32 i;

	demands.all.n = 0;
	for (i = 0; i < n; i++) {
		d = vec_add(&demands.all);
		*d = (struct demand){
			.uid = below(USERS), .until_ns = 2,
			.demand = {
				.dst = 1 + below(GPUS),
				.color = below(3) ? OWN_COLOR :
					 JOB_COLOR + below(JOBS + 1),
			},
		};
		snprintf(d->owner, sizeof(d->owner), "rank%u", below(OWNERS));
	}
}

static void watch(u32 slot, bool all, u32 uid, const char *owner)
{
	watchers[slot] = (struct watcher){
		.client = client, .all = all, .uid = uid,
	};
	strcpy(watchers[slot].owner, owner);
}

static void make_watchers(void)
{
	char owner[DEMAND_OWNER_LEN];
	u32 i;

	memset(watchers, 0, sizeof(watchers));
	for (i = 0; i < TOPIC_SLOTS; i++) {
		if (below(2))
			continue;
		owner[0] = '\0';
		if (below(2))
			snprintf(owner, sizeof(owner), "rank%u",
				 below(OWNERS));
		watch(i, below(2), below(USERS), owner);
	}
}

static bool is_job(u32 color)
{
	return color >= JOB_COLOR && color < JOB_COLOR + JOBS;
}

static bool is_demand_of(const struct watcher *w, const struct demand *d)
{
	return (w->all || d->uid == w->uid) &&
	       (!w->owner[0] || !strcmp(d->owner, w->owner));
}

/* Does a topic concern a watcher, by what is said of it in watch_gather.c? */
static bool concerns(const struct topic_key *key, u32 slot)
{
	const struct watcher *w = &watchers[slot];
	const struct demand *d;

	if (!w->client)
		return false;
	if (key->kind == TOPIC_PLAN)
		return is_followed && key->number == 0;
	if (key->kind == TOPIC_LINKS)
		return key->number == slot;
	if (w->all && !w->owner[0] && is_job(key->number))
		return true;
	vec_for_each(d, &demands.all) {
		struct in6_addr dst = addr(d->demand.dst);

		if (!is_demand_of(w, d) || d->demand.color != key->number)
			continue;
		if (key->kind == TOPIC_QPS ||
		    !memcmp(&dst, &key->dst, sizeof(dst)))
			return true;
	}
	return false;
}

static u32 assert_concerns(const struct topic_key *key)
{
	const struct topic *topic = topics_find(&topics, key);
	u32 slot, want = 0;

	for (slot = 0; slot < TOPIC_SLOTS; slot++)
		want |= (u32)concerns(key, slot) << slot;
	assert_int_equal(topic ? topic->concerns : 0, want);
	return want != 0;
}

/* All topics that there can be, and no others. */
static void assert_gathered(void)
{
	const struct engine_policy *policy;
	struct topic_key key;
	u32 i, n = 0, ending = 0;

	key = (struct topic_key){ .kind = TOPIC_PLAN };
	n += assert_concerns(&key);
	for (i = 0; i < TOPIC_SLOTS; i++) {
		key = (struct topic_key){ .kind = TOPIC_LINKS, .number = i };
		n += assert_concerns(&key);
		assert_int_equal(topics.left_out[i], 0);
	}
	for (i = 0; i <= JOBS; i++) {
		key = (struct topic_key){ .kind = TOPIC_QPS,
					  .number = JOB_COLOR + i };
		if (i < JOBS)
			n += assert_concerns(&key);
		else
			assert_null(topics_find(&topics, &key));
	}
	vec_for_each(policy, &engine.policies) {
		key = (struct topic_key){
			.kind = TOPIC_PATHS, .number = policy->color,
			.src = addr(0), .dst = policy->endpoint,
		};
		n += assert_concerns(&key);
	}
	for (i = 0; i < topics.all.n; i++)
		ending += !((struct topic **)topics.all.data)[i]->concerns;
	assert_int_equal(topics.all.n, n + ending);
}

static int end(void **state)
{
	u32 slot;

	for (slot = 0; slot < TOPIC_SLOTS; slot++)
		topics_leave(&topics, slot);
	assert_int_equal(topics.all.n, 0);
	vec_free(&topics.all);
	topics = (struct topics)TOPICS_INIT(free);
	vec_free(&jobs);
	vec_free(&demands.all);
	vec_free(&engine.policies);
	memset(watchers, 0, sizeof(watchers));
	return 0;
}

static void random_ones(void **state)
{
	u32 round;

	for (round = 0; round < ROUNDS; round++) {
		seed = round + 1;
		is_followed = below(2);
		make_engine(GPUS - below(3));
		make_demands(below(DEMANDS));
		make_watchers();
		watch_gather(&engine, &topics, watchers, true);
		assert_gathered();
	}
}

/* However many demands and watchers there are for a policy. */
static void looks_once(void **state)
{
	u32 i, n = 0;

	seed = 1;
	make_engine(GPUS);
	make_demands(DEMANDS);
	for (i = 0; i < 4; i++)
		watch(i, i < 2, i, i % 2 ? "rank1" : "");
	memset(looked, 0, sizeof(looked));
	watch_gather(&engine, &topics, watchers, false);
	for (i = 0; i < engine.policies.n; i++) {
		assert_in_range(looked[i], 0, 1);
		n += looked[i];
	}
	assert_in_range(n, GPUS, engine.policies.n);
	watch_gather(&engine, &topics, watchers, false);
	for (i = 0; i < engine.policies.n; i++)
		n -= looked[i];
	assert_int_equal(n, 0);
	watch_gather(&engine, &topics, watchers, true);
	for (i = 0; i < engine.policies.n; i++)
		assert_int_equal(looked[i] % 2, 0);
}

/* The limit is each watcher's own: what one has too many of others may have. */
static void too_many(void **state)
{
	struct topic_key key = { .kind = TOPIC_PATHS, .number = OWN_COLOR,
				 .src = addr(0) };
	struct srpol_nic many[MANY + 1] = {};
	struct srpol_gpu of[MANY + 1] = {};
	const struct topic *topic;
	u32 i;

	is_followed = false;
	fabric.nics = many;
	fabric.gpus = of;
	for (i = 0; i <= MANY; i++) {
		many[i].addr = addr(i);
		of[i].nic = i;
		if (!i)
			continue;
		*(struct engine_policy *)vec_add(&engine.policies) =
			(struct engine_policy){ .dst = i, .endpoint = addr(i),
						.color = OWN_COLOR };
		*(struct demand *)vec_add(&demands.all) = (struct demand){
			.uid = 1, .owner = "rank0", .until_ns = 2,
			.demand = { .dst = i, .color = OWN_COLOR },
		};
	}
	watch(0, false, 1, "");
	watch(1, true, 0, "rank0");
	watch(2, false, 2, "");
	watch_gather(&engine, &topics, watchers, false);
	/* its links are a topic, too */
	assert_int_equal(topics.count[0], TOPICS_BY_SLOT);
	assert_int_equal(topics.left_out[0], 11);
	assert_int_equal(topics.count[1], MANY + 1);
	assert_int_equal(topics.left_out[1], 0);
	assert_int_equal(topics.count[2], 1);
	key.dst = addr(MANY);
	topic = topics_find(&topics, &key);
	assert_non_null(topic);
	assert_int_equal(topic->concerns, 1 << 1);
	key.dst = addr(1);
	topic = topics_find(&topics, &key);
	assert_int_equal(topic->concerns, 1 << 0 | 1 << 1);
	fabric.nics = nics;
	fabric.gpus = gpus;
}

#define TEST(f)	cmocka_unit_test_teardown(f, end)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(random_ones),
		TEST(looks_once),
		TEST(too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
