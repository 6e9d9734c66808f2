// SPDX-License-Identifier: GPL-2.0
/*
 * Copies the limits of colors from the plan in force into the data plane. This
 * is repeated once a second, because a data plane that was loaded anew has no
 * limits, and qdiscs of devices come and go. When srpold stops, the limits
 * stay; they are deleted when srpold starts and follows no plan.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <net/if.h>

#include "limit.h"
#include "srpold.h"

#define EVERY_NS	1000000000ull

static void look(void *data);

static struct engine *engine;
static struct alarm alarm = ALARM_INIT(look, NULL);
static uint64_t gpus[HOSTS_MAX];	/* number of GPUs of each host here */
static uint32_t no_room;		/* colors without room, as last
					 * logged */

static const struct srpol_index *index_of(uint32_t number)
{
	const struct follow *f = plan_following(number);

	return f->now ? &f->now->index : NULL;
}

static void count_gpus(void)
{
	const struct srpol_fabric *f = engine->fabric;
	uint32_t i, k;

	for (i = 0; i < engine->config.n_hosts; i++) {
		gpus[i] = 0;
		for (k = 0; k < f->n_gpus; k++)
			gpus[i] += f->gpus[k].host == plan_host(i);
	}
}

/* Bit/s that all hosts of this namespace may send in a color, 0: no limit. */
static uint64_t rate_of(uint32_t color)
{
	uint64_t sum = 0, rate;
	uint32_t i;

	for (i = 0; i < engine->config.n_hosts; i++) {
		rate = limit_rate(index_of(i), color);
		if (!rate)
			return 0;
		sum += rate * gpus[i];
	}
	return sum;
}

/*
 * All NICs must have pacing, as a flow may take any of them but those that are not
 * there. If the kernel does not answer, or no NIC is there, the last result is used:
 * a wrong result, even for a second, would drop packets that could have waited.
 */
static bool all_paced(void)
{
	const struct srpol_fabric *f = engine->fabric;
	static bool paced;
	struct srpol_error err = {};
	unsigned int ifindex;
	uint32_t i;
	int ret = -ENODEV;

	for (i = 0; i < f->n_nics; i++) {
		if (!engine_is_local(engine, f->nics[i].host))
			continue;
		ifindex = if_nametoindex(f->nics[i].name);
		if (!ifindex)
			continue;
		ret = srpol_dev_paced(ifindex, &err);
		if (ret <= 0)
			break;
	}
	if (ret >= 0)
		paced = ret;
	return paced;
}

static int set(int fd, uint32_t color, uint64_t rate, bool paced)
{
	struct srpol_limit l = {};

	srpol_map_lookup(fd, &color, &l);
	return limit_change(&l, rate, paced, now_ns()) ?
	       srpol_map_update(fd, &color, &l) : 0;
}

static uint32_t set_all(int fd, bool paced)
{
	const struct srpol_index *index = index_of(0);
	uint32_t i, n = 0, failed = 0;
	uint64_t rate;

	for (i = 0; index && i < index->n_limits; i++) {
		rate = rate_of(index->limits[i].color);
		if (!rate)
			continue;
		if (set(fd, index->limits[i].color, rate, paced))
			failed++;
		else
			n++;
	}
	if (failed && failed != no_room)
		log_error("%u colors are not limited: there is room for %u in the data plane",
			  failed, SRPOL_MAX_LIMITS);
	no_room = failed;
	return n;
}

/* Delete limits that no longer apply, so that others have room. */
static void delete_old(int fd)
{
	struct vec old = VEC_INIT(uint32_t);
	struct srpol_limit l;
	uint32_t color = 0, *c;
	bool first = true;

	while (!srpol_map_next(fd, &color, sizeof(color), first, &l)) {
		first = false;
		if (!rate_of(color))
			*(uint32_t *)vec_add(&old) = color;
	}
	vec_for_each(c, &old)
		bpf_map_delete_elem(fd, c);
	vec_free(&old);
}

static void look(void *data)
{
	int fd = srpol_map_open("limits"), count = srpol_map_open("limit_count");
	uint32_t zero = 0, n, is = 0;

	alarm_set(&alarm, EVERY_NS);
	if (fd >= 0 && count >= 0) {
		delete_old(fd);
		n = set_all(fd, all_paced());
		if (!srpol_map_lookup(count, &zero, &is) && is != n)
			srpol_map_update(count, &zero, &n);
	}
	srpol_map_close(fd);
	srpol_map_close(count);
}

/**
 * limits_soon() - a plan was applied: update the limits without delay
 */
void limits_soon(void)
{
	if (!engine)
		return;
	alarm_stop(&alarm);
	alarm_set(&alarm, 1);
}

/**
 * limits_start() - make the data plane enforce the plan's limits
 * @e: the engine, with the plan from disk; without a plan there are no limits
 */
void limits_start(struct engine *e)
{
	engine = e;
	count_gpus();
	look(NULL);
	if (!plan_is_followed())
		limits_stop();
}

/**
 * limits_stop() - stop updating; existing limits stay in the data plane
 */
void limits_stop(void)
{
	alarm_stop(&alarm);
	engine = NULL;
}

/**
 * limits_report() - limits for srpol engine show
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
