// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of colors: as the plan in force has them, into the data plane. They are
 * looked at once a second, as a data plane that was loaded anew has none, and as
 * queues of devices come and go. They stay when srpold goes, and go when it comes
 * and is to follow no plan any more.
 */
#include <bpf/bpf.h>
#include <net/if.h>

#include "srpold.h"

#define EVERY_NS	1000000000ull
#define BURST_NS	1000000ull
#define BURST_BYTES	(32 * 1024ull)
#define HORIZON_NS	20000000ull
#define HORIZON_BYTES	(64 * 1024ull)

static void look(void *data);

static struct engine *engine;
static struct alarm alarm = ALARM_INIT(look, NULL);
static bool paced;

static const struct srpol_index *index_of(uint32_t number)
{
	const struct follow *f = plan_following(number);

	return f->now ? &f->now->index : NULL;
}

static uint32_t gpus_of(uint32_t host)
{
	uint32_t i, n = 0;

	for (i = 0; i < engine->fabric->n_gpus; i++)
		n += engine->fabric->gpus[i].host == host;
	return n;
}

/* What all hosts of this namespace may send in a color, 0: no limit. */
static uint64_t rate_of(uint32_t color)
{
	const struct srpol_index *index;
	uint64_t sum = 0;
	uint32_t i, k;

	for (i = 0; i < engine->config.n_hosts; i++) {
		index = index_of(i);
		for (k = 0; index && k < index->n_limits; k++)
			if (index->limits[k].color == color)
				break;
		if (!index || k == index->n_limits)
			return 0;
		sum += index->limits[k].rate * gpus_of(plan_host(i));
	}
	return sum;
}

/* By all NICs, as a flow may take any of them. */
static bool all_paced(void)
{
	const struct srpol_fabric *f = engine->fabric;
	struct srpol_error err = {};
	uint32_t i;

	for (i = 0; i < f->n_nics; i++)
		if (engine_is_local(engine, f->nics[i].host) &&
		    srpol_dev_paced(if_nametoindex(f->nics[i].name), &err) <= 0)
			return false;
	return true;
}

/* So long, or as long as so many bytes take if that is longer. */
static uint64_t at_least(uint64_t ns, uint64_t bytes, uint64_t rate)
{
	uint64_t take = bytes * 8 * 1000000000 / rate;

	return (take > ns ? take : ns) << SRPOL_LIMIT_SHIFT;
}

static struct srpol_limit limit_at(uint64_t rate)
{
	return (struct srpol_limit){
		.rate = rate,
		.burst = at_least(BURST_NS, BURST_BYTES, rate),
		.horizon = paced ? at_least(HORIZON_NS, HORIZON_BYTES, rate) :
			   0,
	};
}

/* Turns that were given, and what was counted, stay. */
static int set(int fd, uint32_t color, uint64_t rate)
{
	struct srpol_limit is = {}, l = limit_at(rate);

	if (!srpol_map_lookup(fd, &color, &is) && is.rate == l.rate &&
	    is.burst == l.burst && is.horizon == l.horizon)
		return 0;
	l.next = is.next;
	l.delayed = is.delayed;
	l.dropped = is.dropped;
	return srpol_map_update(fd, &color, &l);
}

static uint32_t set_all(int fd)
{
	const struct srpol_index *index = index_of(0);
	uint32_t i, n = 0;
	uint64_t rate;

	for (i = 0; index && i < index->n_limits; i++) {
		rate = rate_of(index->limits[i].color);
		if (!rate)
			continue;
		if (set(fd, index->limits[i].color, rate))
			log_error("limit of color %u: no room in the data plane",
				  index->limits[i].color);
		else
			n++;
	}
	return n;
}

/* Those that are no more, from the first one that is found. */
static bool delete_one(int fd)
{
	struct srpol_limit l;
	uint32_t color = 0;
	bool first = true;

	while (!srpol_map_next(fd, &color, sizeof(color), first, &l)) {
		first = false;
		if (!rate_of(color))
			return !bpf_map_delete_elem(fd, &color);
	}
	return false;
}

static void look(void *data)
{
	int fd = srpol_map_open("limits"), count = srpol_map_open("limit_count");
	uint32_t zero = 0, n, is = 0;

	alarm_set(&alarm, EVERY_NS);
	if (fd >= 0 && count >= 0) {
		paced = all_paced();
		n = set_all(fd);
		while (delete_one(fd))
			;
		if (!srpol_map_lookup(count, &zero, &is) && is != n)
			srpol_map_update(count, &zero, &n);
	}
	srpol_map_close(fd);
	srpol_map_close(count);
}

/**
 * limits_soon() - a plan was applied
 */
void limits_soon(void)
{
	if (!engine)
		return;
	alarm_stop(&alarm);
	alarm_set(&alarm, 1);
}

/**
 * limits_start() - have the data plane keep limits
 * @e: the engine, with the plan of its disk; without one there are none
 */
void limits_start(struct engine *e)
{
	engine = e;
	look(NULL);
	if (!plan_is_followed())
		limits_stop();
}

/**
 * limits_stop() - no longer; those there are stay
 */
void limits_stop(void)
{
	alarm_stop(&alarm);
	engine = NULL;
}

/**
 * limits_report() - what srpol engine show says of them
 */
json_t *limits_report(void)
{
	int fd = srpol_map_open("limits");
	json_t *list = json_array();
	struct srpol_limit l;
	uint32_t color = 0;
	bool first = true;

	while (fd >= 0 && !srpol_map_next(fd, &color, sizeof(color), first, &l)) {
		first = false;
		json_array_append_new(list, json_pack("{s:I, s:I, s:b, s:I, s:I}",
			"color", (json_int_t)color, "rate", (json_int_t)l.rate,
			"paced", l.horizon != 0,
			"delayed", (json_int_t)l.delayed,
			"dropped", (json_int_t)l.dropped));
	}
	srpol_map_close(fd);
	return list;
}
