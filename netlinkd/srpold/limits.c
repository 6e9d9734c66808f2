// SPDX-License-Identifier: GPL-2.0
/*
 * Copies the limits of colors from the plan in force into the data plane. This
 * is repeated once a second, because a data plane that was loaded anew has no
 * limits, and qdiscs of devices come and go. The kernel is asked for these aside
 * from the loop, as others may hold the RTNL for seconds. When srpold stops, the
 * limits stay, and so they do until it has a plan: the one on disk may be lost, or of
 * another topology. They are deleted when it starts and is to follow none.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <net/if.h>

#include "aside.h"
#include "limit.h"
#include "srpold.h"

#define EVERY_NS	1000000000ull

static void look(void *data);

static struct engine *engine;
static struct alarm alarm = ALARM_INIT(look, NULL);
static uint64_t gpus[HOSTS_MAX];	/* number of GPUs of each host here */
static uint32_t no_room;		/* colors without room, as last
					 * logged */
static struct aside *aside;
static bool paced;			/* as last heard */

/**
 * struct queues - what is asked of the queues of this host's NICs
 * @ret: result: 1: all have pacing, 0: not all, or a negative errno
 * @n: how many NICs there are
 * @ifindex: their devices
 */
struct queues {
	int ret;
	uint32_t n;
	unsigned int ifindex[];
};

/*
 * Index of a host's plan. All hosts here are of one shard: as long as one has no plan,
 * what another one's says of a color holds for it, too. NULL if none has one.
 */
static const struct srpol_index *index_of(uint32_t number)
{
	const struct follow *f = plan_following(number);
	uint32_t i;

	for (i = 0; !f->now && i < engine->config.n_hosts; i++)
		f = plan_following(i);
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

static void prepare(struct queues *q)
{
	const struct srpol_fabric *f = engine->fabric;
	uint32_t i;

	q->n = 0;
	for (i = 0; i < f->n_nics; i++) {
		if (!engine_is_local(engine, f->nics[i].host))
			continue;
		q->ifindex[q->n] = if_nametoindex(f->nics[i].name);
		q->n += q->ifindex[q->n] != 0;
	}
}

/*
 * All NICs must have pacing, as a flow may take any of them but those that are not
 * there. @beats: this is the loop, which goes on while others hold the RTNL: what one
 * NIC takes does not add up with the others.
 */
static void ask(struct queues *q, bool beats)
{
	struct srpol_error err = {};
	uint32_t i;

	q->ret = q->n ? 1 : -ENODEV;
	for (i = 0; i < q->n && q->ret > 0; i++) {
		if (beats)
			notify("WATCHDOG=1");
		q->ret = srpol_dev_paced(q->ifindex[i], &err);
	}
}

/* That this goes on does not say that the loop does. */
static void ask_aside(void *data)
{
	ask(data, false);
}

/*
 * If the kernel does not answer, or no NIC is there, the last result is used: a
 * wrong result, even for a second, would drop packets that could have waited.
 */
static bool take(const struct queues *q)
{
	bool before = paced;

	if (q->ret >= 0)
		paced = q->ret;
	return paced != before;
}

static int set(int fd, uint32_t color, uint64_t rate)
{
	struct srpol_limit l = {};

	srpol_map_lookup(fd, &color, &l);
	return limit_change(&l, rate, paced, now_ns()) ?
	       srpol_map_update(fd, &color, &l) : 0;
}

static uint32_t set_all(int fd)
{
	const struct srpol_index *index = index_of(0);
	uint32_t i, n = 0, failed = 0;
	uint64_t rate;

	for (i = 0; index && i < index->n_limits; i++) {
		rate = rate_of(index->limits[i].color);
		if (!rate)
			continue;
		if (set(fd, index->limits[i].color, rate))
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

/* What is in the map now: entries may change afterwards. To be freed. */
static struct vec colors_of(int fd)
{
	struct vec colors = VEC_INIT(uint32_t);
	struct srpol_limit l;
	uint32_t color = 0;
	bool first = true;

	while (!srpol_map_next(fd, &color, sizeof(color), first, &l)) {
		first = false;
		*(uint32_t *)vec_add(&colors) = color;
	}
	return colors;
}

/* Delete limits that no longer apply, so that others have room. */
static void delete_old(int fd)
{
	struct vec colors = colors_of(fd);
	const uint32_t *color;

	vec_for_each(color, &colors)
		if (!rate_of(*color))
			bpf_map_delete_elem(fd, color);
	vec_free(&colors);
}

/* Without a plan rates stay, but packets may be able to wait now, or no more. */
static uint32_t keep_all(int fd)
{
	struct vec colors = colors_of(fd);
	const uint32_t *color;
	struct srpol_limit l;
	uint32_t n = 0;

	vec_for_each(color, &colors)
		if (!srpol_map_lookup(fd, color, &l) && l.rate)
			n += !set(fd, *color, l.rate);
	vec_free(&colors);
	return n;
}

static uint32_t apply(int fd)
{
	if (engine->config.fabric.is_set && !index_of(0))
		return keep_all(fd);
	delete_old(fd);
	return set_all(fd);
}

static void set_and_delete(void)
{
	int fd = srpol_map_open("limits"), count = srpol_map_open("limit_count");
	uint32_t zero = 0, n, is = 0;

	if (fd >= 0 && count >= 0) {
		n = apply(fd);
		if (!srpol_map_lookup(count, &zero, &is) && is != n)
			srpol_map_update(count, &zero, &n);
	}
	srpol_map_close(fd);
	srpol_map_close(count);
}

static void answered(void *data)
{
	if (take(data))
		limits_soon();
}

static void look(void *data)
{
	struct queues *q = aside_data(aside);

	alarm_set(&alarm, EVERY_NS);
	set_and_delete();
	if (!q)
		return;
	prepare(q);
	aside_start(aside);
}

/* What is set first is based on the queues as they are. */
static void look_first(void)
{
	struct queues *q;

	aside = aside_new(ask_aside, answered, sizeof(*q) +
			  engine->fabric->n_nics * sizeof(*q->ifindex));
	q = aside_data(aside);
	if (q) {
		prepare(q);
		ask(q, true);
		notify("WATCHDOG=1");
		take(q);
	} else {
		log_error("no memory for the queues of NICs: limits take their pacing for as it was");
	}
	alarm_set(&alarm, EVERY_NS);
	set_and_delete();
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
 * @e: the engine, with the plan from disk, if that can be used; else limits stay
 */
void limits_start(struct engine *e)
{
	engine = e;
	count_gpus();
	look_first();
	if (!plan_is_followed())
		limits_stop();
}

/**
 * limits_stop() - stop updating; existing limits stay in the data plane
 */
void limits_stop(void)
{
	alarm_stop(&alarm);
	aside_leave(aside);
	aside = NULL;
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
