// SPDX-License-Identifier: GPL-2.0
/*
 * Topics: each watcher is told the latest state of each of its topics, however long
 * it has not read, and how much of it is not told one by one.
 */
#include "topics.h"
#include "test.h"

#define WHY	1
#define WHY_TOO	4

static unsigned int released;

static void release(void *content)
{
	if (content)
		released++;
}

static struct topics topics = TOPICS_INIT(release);

static struct topic_key key(uint32_t kind, uint32_t number)
{
	return (struct topic_key){ .kind = kind, .number = number };
}

static struct topic *want(uint32_t kind, uint32_t number, uint32_t slot)
{
	struct topic_key k = key(kind, number);

	topics.max[slot] = TOPICS_MAX;
	return topics_want(&topics, &k, 1u << slot);
}

static struct topic *find(uint32_t kind, uint32_t number)
{
	struct topic_key k = key(kind, number);

	return topics_find(&topics, &k);
}

/* The number of the topic that is told next, -1 if there is none. */
static int next(uint32_t slot, enum topic_part *part)
{
	struct topic *topic = topics_next(&topics, slot, part);

	if (!topic)
		return -1;
	topic_told(topic, slot, *part);
	return topic->key.number;
}

static void assert_next(uint32_t slot, int number, enum topic_part part)
{
	enum topic_part is;

	assert_int_equal(next(slot, &is), number);
	assert_int_equal(is, part);
}

static void assert_quiet(uint32_t slot)
{
	assert_next(slot, -1, TOPIC_NONE);
}

static int begin(void **state)
{
	(void)state;
	topics_gather(&topics);
	topics_gathered(&topics);
	released = 0;
	return topics.all.n;
}

static int end(void **state)
{
	uint32_t slot;

	(void)state;
	for (slot = 0; slot < TOPIC_SLOTS; slot++)
		topics_leave(&topics, slot);
	vec_free(&topics.all);
	return topics.all.n;
}

static void state_first(void **state)
{
	(void)state;
	topics_gather(&topics);
	want(TOPIC_LINKS, 0, 0);
	want(TOPIC_PATHS, 100, 0);
	want(TOPIC_PATHS, 100, 0);
	want(TOPIC_PATHS, 200, 1);
	topics_gathered(&topics);
	assert_int_equal(topics.count[0], 2);
	assert_next(0, 100, TOPIC_STATE);
	assert_next(0, 0, TOPIC_STATE);
	assert_quiet(0);
	assert_next(1, 200, TOPIC_STATE);
	assert_quiet(1);
	assert_quiet(2);
	/* gathered again: nothing is told twice */
	topics_gather(&topics);
	want(TOPIC_LINKS, 0, 0);
	want(TOPIC_PATHS, 100, 0);
	want(TOPIC_PATHS, 200, 1);
	topics_gathered(&topics);
	assert_quiet(0);
	assert_quiet(1);
	/* unless it asks for that */
	topics_again(&topics, 0);
	assert_next(0, 100, TOPIC_STATE);
	assert_next(0, 0, TOPIC_STATE);
	assert_quiet(0);
	assert_quiet(1);
}

static void coalesced(void **state)
{
	enum topic_part part;
	struct topic *topic;
	uint32_t i;

	(void)state;
	topics_gather(&topics);
	topic = want(TOPIC_PATHS, 100, 0);
	want(TOPIC_PATHS, 100, 1);
	topics_gathered(&topics);
	topic_changed(&topics, topic, WHY_TOO);
	assert_int_equal(topics_coalesced(&topics, 0), 0);
	/* what was before the first state was never to be told */
	assert_next(0, 100, TOPIC_STATE);
	assert_int_equal(topic->because[0], 0);
	for (i = 0; i < 5; i++) {
		topic_changed(&topics, topic, i == 3 ? WHY_TOO : WHY);
		assert_int_equal(topics_coalesced(&topics, 0), i);
	}
	assert_ptr_equal(topics_next(&topics, 0, &part), topic);
	assert_int_equal(part, TOPIC_STATE);
	assert_int_equal(topic->because[0], WHY | WHY_TOO);
	assert_int_equal(topic->told[0], 2);
	topic_told(topic, 0, part);
	assert_int_equal(topic->because[0], 0);
	assert_int_equal(topics_coalesced(&topics, 0), 0);
	assert_quiet(0);
	/* the other one has read nothing yet, and is told the same state once */
	assert_next(1, 100, TOPIC_STATE);
	assert_quiet(1);
}

static void ends(void **state)
{
	struct topic *topic;

	(void)state;
	topics_gather(&topics);
	topic = want(TOPIC_PATHS, 100, 0);
	topic->content = &released;
	want(TOPIC_PATHS, 100, 1);
	topics_gathered(&topics);
	assert_next(0, 100, TOPIC_STATE);
	/* slot 1 was not told of it: its end is none to it */
	topics_gather(&topics);
	topics_gathered(&topics);
	assert_quiet(1);
	assert_non_null(find(TOPIC_PATHS, 100));
	assert_next(0, 100, TOPIC_END);
	assert_quiet(0);
	assert_int_equal(released, 0);
	topics_gather(&topics);
	topics_gathered(&topics);
	assert_null(find(TOPIC_PATHS, 100));
	assert_int_equal(released, 1);
}

static void ends_and_returns(void **state)
{
	(void)state;
	topics_gather(&topics);
	want(TOPIC_PATHS, 100, 0);
	topics_gathered(&topics);
	assert_next(0, 100, TOPIC_STATE);
	topics_gather(&topics);
	topics_gathered(&topics);
	topics_gather(&topics);
	want(TOPIC_PATHS, 100, 0);
	topics_gathered(&topics);
	/* it is back before its end was told */
	assert_next(0, 100, TOPIC_STATE);
	assert_quiet(0);
}

static void measured_last(void **state)
{
	(void)state;
	topics_gather(&topics);
	want(TOPIC_PLAN, 1, 0);
	want(TOPIC_PATHS, 100, 0);
	want(TOPIC_PATHS, 200, 0);
	want(TOPIC_LINKS, 7, 0);
	topics_gathered(&topics);
	topics_measured(&topics, 0);
	topics_measured(&topics, 0);
	assert_next(0, 1, TOPIC_STATE);
	assert_next(0, 100, TOPIC_STATE);
	assert_next(0, 200, TOPIC_STATE);
	assert_next(0, 7, TOPIC_STATE);
	assert_next(0, 100, TOPIC_MEASURED);
	topic_changed(&topics, find(TOPIC_LINKS, 7), 0);
	topic_changed(&topics, find(TOPIC_PATHS, 100), WHY);
	/* a change overtakes what was measured */
	assert_next(0, 100, TOPIC_STATE);
	assert_next(0, 200, TOPIC_MEASURED);
	assert_next(0, 7, TOPIC_STATE);
	assert_next(0, 7, TOPIC_MEASURED);
	assert_quiet(0);
}

static void turns(void **state)
{
	uint32_t heard[3] = {}, i;
	enum topic_part part;

	(void)state;
	topics_gather(&topics);
	for (i = 0; i < 3; i++)
		want(TOPIC_PATHS, i, 0);
	topics_gathered(&topics);
	/* a topic that changes all the time does not keep the others back */
	for (i = 0; i < 30; i++) {
		topic_changed(&topics, find(TOPIC_PATHS, 0), WHY);
		topic_changed(&topics, find(TOPIC_PATHS, i % 2 + 1), WHY);
		heard[next(0, &part)]++;
	}
	for (i = 0; i < 3; i++)
		assert_in_range(heard[i], 8, 12);
}

static void limits(void **state)
{
	struct topic_key k;
	uint32_t i;

	(void)state;
	topics_gather(&topics);
	topics.max[0] = 3;
	topics.max[2] = 4;
	for (i = 0; i < 5; i++) {
		k = key(TOPIC_PATHS, i);
		assert_int_equal(topics_want(&topics, &k, 1 << 0) != NULL,
				 i < 3);
	}
	assert_int_equal(topics.left_out[0], 2);
	k = key(TOPIC_PATHS, 1);
	assert_non_null(topics_want(&topics, &k, 1 << 0));
	/* of several watchers those have it that have room */
	for (i = 0; i < 5; i++) {
		k = key(TOPIC_PATHS, i);
		assert_int_equal(topics_want(&topics, &k, 1 << 0 | 1 << 2) !=
				 NULL, i < 4);
	}
	assert_int_equal(find(TOPIC_PATHS, 2)->wanted, 1 << 0 | 1 << 2);
	assert_int_equal(find(TOPIC_PATHS, 3)->wanted, 1 << 2);
	assert_null(find(TOPIC_PATHS, 4));
	assert_int_equal(topics.count[0], 3);
	assert_int_equal(topics.left_out[0], 4);
	assert_int_equal(topics.count[2], 4);
	assert_int_equal(topics.left_out[2], 1);
	for (i = 0; i < TOPICS_MAX + 10; i++)
		want(TOPIC_PATHS, i, 1);
	topics_gathered(&topics);
	assert_int_equal(topics.all.n, TOPICS_MAX);
	assert_int_equal(topics.count[1], TOPICS_MAX);
	assert_int_equal(topics.left_out[1], 10);
	/* nor is one counted for which there is no room at all */
	k = key(TOPIC_PATHS, TOPICS_MAX + 10);
	topics.max[3] = 1;
	topics_gather(&topics);
	for (i = 0; i < TOPICS_MAX; i++)
		want(TOPIC_PATHS, i, 1);
	assert_null(topics_want(&topics, &k, 1 << 3));
	assert_int_equal(topics.count[3], 0);
	assert_int_equal(topics.left_out[3], 1);
	for (i = 0; i < 3; i++)
		want(TOPIC_PATHS, i, 0);
	topics_gathered(&topics);
	topics_leave(&topics, 1);
	assert_int_equal(topics.all.n, 3);
	topics_leave(&topics, 0);
	assert_int_equal(topics.all.n, 0);
	assert_quiet(0);
}

/*
 * Whatever happens in whatever order: once it has read everything, a watcher knows
 * the latest version of its topics and of no others, and what it was told and what
 * was coalesced add up to what has changed.
 */
static void at_random(void **state)
{
	uint64_t known[3][8] = {}, told[3] = {}, lost[3] = {}, due[3] = {};
	uint32_t step, slot, i, concerns[3] = { 0xff, 0x0f, 0x3c };
	enum topic_part part;
	struct topic *topic;
	u64 seed = 7;

	(void)state;
	topics_gather(&topics);
	for (slot = 0; slot < 3; slot++)
		for (i = 0; i < 8; i++)
			if (concerns[slot] >> i & 1)
				want(TOPIC_PATHS, i, slot);
	topics_gathered(&topics);
	for (slot = 0; slot < 3; slot++)
		while ((topic = topics_next(&topics, slot, &part)))
			topic_told(topic, slot, part);
	for (step = 0; step < 20000; step++) {
		i = test_random(&seed) % 8;
		slot = test_random(&seed) % 3;
		if (test_random(&seed) % 3) {
			topic_changed(&topics, find(TOPIC_PATHS, i), WHY);
			for (slot = 0; slot < 3; slot++)
				due[slot] += concerns[slot] >> i & 1;
			continue;
		}
		topic = topics_next(&topics, slot, &part);
		if (!topic)
			continue;
		told[slot]++;
		lost[slot] += topic->version - topic->told[slot] - 1;
		topic_told(topic, slot, part);
	}
	for (slot = 0; slot < 3; slot++) {
		lost[slot] += topics_coalesced(&topics, slot);
		while ((topic = topics_next(&topics, slot, &part))) {
			assert_true(concerns[slot] >> topic->key.number & 1);
			known[slot][topic->key.number] = topic->version;
			told[slot]++;
			topic_told(topic, slot, part);
		}
		assert_int_equal(told[slot] + lost[slot], due[slot]);
		for (i = 0; i < 8; i++) {
			topic = find(TOPIC_PATHS, i);
			assert_int_equal(topic->told[slot], concerns[slot] >> i & 1 ?
					 topic->version : 0);
			assert_true(!known[slot][i] ||
				    known[slot][i] == topic->version);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(state_first, begin, end),
		cmocka_unit_test_setup_teardown(coalesced, begin, end),
		cmocka_unit_test_setup_teardown(ends, begin, end),
		cmocka_unit_test_setup_teardown(ends_and_returns, begin, end),
		cmocka_unit_test_setup_teardown(measured_last, begin, end),
		cmocka_unit_test_setup_teardown(turns, begin, end),
		cmocka_unit_test_setup_teardown(limits, begin, end),
		cmocka_unit_test_setup_teardown(at_random, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
