// SPDX-License-Identifier: GPL-2.0
/*
 * Forecasts of hosts: the last message of each host is kept as long as its
 * lease or, on the bus, for FORGET_NS. If the forecasts that are due change, a
 * new plan follows, at most once in SETTLE_NS: hosts may send messages at any
 * rate.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forecasts.h"
#include "hear.h"
#include "srpol_lib.h"

#define FORGET_NS	(30 * NS_PER_SEC)	/* hosts repeat their
						 * forecasts every 10 s */
#define SETTLE_NS	NS_PER_SEC
#define LATE_MS		10	/* margin, so that an edge has passed */

/**
 * struct word - the last message of a host
 * @host: node of the host
 * @mod: revision of the message
 * @heard: when it was received
 * @cut: number of demands for which there was no room
 * @said: its forecasts
 * @stale: not yet seen in the read that is under way
 */
struct word {
	uint32_t host;
	uint64_t mod;
	uint64_t heard;
	uint64_t cut;
	struct srpol_forecasts said;
	bool stale;
};

static void follow(void *data);
static void edge(void *data);
static void forget_old(void *data);
static struct alarm later = ALARM_INIT(follow, NULL);
static struct alarm edges = ALARM_INIT(edge, NULL);
static struct alarm forget = ALARM_INIT(forget_old, NULL);
static struct vec all = VEC_INIT(struct word);
static uint64_t kept, refused;
static struct hearing hearing;
static uint64_t planned, covered;
static double planned_bytes;
static bool settling;

static void free_word(void *data)
{
	struct word *w = data;

	kept -= w->said.n;
	srpol_forecasts_free(&w->said);
}

static struct sweep sweep = {
	.list = &all, .stale = offsetof(struct word, stale),
	.free = free_word,
};

static int by_host(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	return (x->host > y->host) - (x->host < y->host);
}

static struct word *find(uint32_t host)
{
	struct word want = { .host = host };

	return all.n ? bsearch(&want, all.data, all.n, sizeof(want),
			       by_host) : NULL;
}

/**
 * forecasts_now_ms() - current time in milliseconds since 1970
 */
uint64_t forecasts_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * UINT64_C(1000) + ts.tv_nsec / NS_PER_MS;
}

/**
 * forecasts_next() - iterate over all forecasts, by host
 * @at: position, 0 at first
 * @i: position, 0 at first
 * @d: result
 *
 * Return: false at the end.
 */
bool forecasts_next(size_t *at, uint32_t *i, struct srpol_forecast *d)
{
	const struct word *words = all.data;

	while (*at < all.n && *i >= words[*at].said.n) {
		++*at;
		*i = 0;
	}
	if (*at >= all.n)
		return false;
	*d = words[*at].said.list[(*i)++];
	return true;
}

/* Set the timer for the next begin or end of a forecast. */
static void set_edge(void)
{
	uint64_t now = forecasts_now_ms(), next = UINT64_MAX, begins;
	struct srpol_forecast d;
	uint32_t i = 0;
	size_t at = 0;

	while (forecasts_next(&at, &i, &d)) {
		begins = d.start_ms - (d.start_ms < FORECAST_LEAD_MS ?
				       d.start_ms : FORECAST_LEAD_MS);
		if (begins > now && begins < next)
			next = begins;
		if (d.end_ms > now && d.end_ms < next)
			next = d.end_ms;
	}
	alarm_stop(&edges);
	if (next != UINT64_MAX)
		alarm_set(&edges, (next - now + LATE_MS) * NS_PER_MS);
}

static void follow(void *data)
{
	settling = false;
	set_edge();
	inputs_changed();
}

/* The forecasts that are due changed: plan after a while. */
static void changed(void)
{
	if (settling)
		return;
	settling = true;
	if (alarm_set(&later, SETTLE_NS))
		follow(NULL);
}

static void edge(void *data)
{
	changed();
}

static bool is_same(const struct srpol_forecasts *a,
		    const struct srpol_forecasts *b)
{
	return a->n == b->n && (!a->n || !memcmp(a->list, b->list,
						 a->n * sizeof(*a->list)));
}

static uint32_t drop_over(struct srpol_forecasts *said, uint64_t now_ms)
{
	uint32_t n = said->n, i;

	for (i = 0, said->n = 0; i < n; i++)
		if (said->list[i].end_ms > now_ms)
			said->list[said->n++] = said->list[i];
	return n - said->n;
}

static uint64_t room_beside(const struct word *old)
{
	uint64_t others = kept - (old ? old->said.n : 0);

	return fabricd.config.forecasts > others ?
	       fabricd.config.forecasts - others : 0;
}

/*
 * If there are too many, drop those with the fewest bytes. Hosts do not report
 * that a forecast is over, so those are dropped first.
 */
static void make_room(struct word *new, const struct word *old, uint64_t now_ms)
{
	uint64_t room = room_beside(old);
	uint32_t n = new->said.n;
	struct word *w;

	if (room < n) {
		vec_for_each(w, &all)
			kept -= drop_over(&w->said, now_ms);
		room = room_beside(old);
	}
	srpol_forecasts_cut(&new->said, room < n ? room : n);
	new->cut = n - new->said.n;
}

static void drop(struct word *w)
{
	if (w)
		sweep_remove(&sweep, w);
	changed();
}

static void refuse(struct word *w, const struct store_kv *kv, const char *why)
{
	if (mirror_is_news(&hearing.mirror, kv)) {
		/* log only some of many: the 1st, 2nd, 4th, 8th... */
		if (!(refused & (refused + 1)))
			log_notice("%s: %s; it does not count", kv->key, why);
		refused++;
	}
	/* what the host said before is no longer valid */
	if (w)
		drop(w);
}

static void set(void *data, const struct store_kv *kv)
{
	struct word new = {
		.host = hear_host(kv->key, NULL), .mod = kv->mod, .heard = now_ns(),
	};
	struct word *w = find(new.host);
	uint64_t now_ms = forecasts_now_ms();
	struct srpol_error err = {};
	bool same;

	if (w)
		w->stale = false;
	if (w && w->mod == kv->mod)
		return;
	if (!kv->value) {
		if (w)
			drop(w);
		return;
	}
	if (srpol_forecasts_read(fabricd.fabric, fabricd.topology, new.host,
				 now_ms, kv->value, kv->len, &new.said, &err)) {
		refuse(w, kv, err.text);
		return;
	}
	drop_over(&new.said, now_ms);
	make_room(&new, w, now_ms);
	same = w && is_same(&w->said, &new.said);
	kept += new.said.n;
	if (w) {
		free_word(w);
		*w = new;
	} else {
		vec_insert(&all, &new, by_host);
	}
	if (!same)
		changed();
}

static void end(void *data)
{
	if (sweep_gone(data))
		changed();
}

static struct hearing hearing = { .set = set, .end = end };

static void forget_old(void *data)
{
	uint64_t now = now_ns();
	struct word *w;

	vec_for_each(w, &all)
		w->stale = now - w->heard > FORGET_NS;
	end(&sweep);
	alarm_set(&forget, FORGET_NS / 3);
}

/**
 * forecasts_planned() - record what a plan did with the forecasts
 * @n: number of demands in it
 * @n_covered: number of demands left out because jobs announce their hosts
 * @bytes: bytes of the demands in it
 */
void forecasts_planned(uint64_t n, uint64_t n_covered, double bytes)
{
	planned = n;
	covered = n_covered;
	planned_bytes = bytes;
}

/**
 * forecasts_get() - read the counters
 * @stats: result
 */
void forecasts_get(struct forecast_stats *stats)
{
	uint64_t now = forecasts_now_ms(), live;
	const struct word *w;
	uint32_t i;

	*stats = (struct forecast_stats){ .refused = refused + hearing.strange };
	if (plan_in_force(NULL)) {
		stats->planned = planned;
		stats->covered = covered;
		stats->bytes = planned_bytes;
	}
	vec_for_each(w, &all) {
		for (i = 0, live = 0; i < w->said.n; i++)
			live += w->said.list[i].end_ms > now;
		stats->hosts += live != 0;
		stats->demands += live;
		stats->n_rest += w->said.n_rest - w->cut;
		stats->rest += w->said.rest;
		stats->cut += w->cut;
	}
}

/**
 * forecasts_start() - start receiving forecasts, if configured
 * @err: message on failure
 */
int forecasts_start(struct srpol_error *err)
{
	int ret;

	if (!fabricd.config.forecasts)
		return 0;
	ret = hear_start(&hearing, "demand", &sweep, err);
	if (!ret && hearing.bus)
		alarm_set(&forget, FORGET_NS / 3);
	return ret;
}

/**
 * forecasts_stop() - stop receiving forecasts
 */
void forecasts_stop(void)
{
	hear_stop(&hearing);
	alarm_stop(&later);
	alarm_stop(&edges);
	alarm_stop(&forget);
	while (all.n)
		sweep_remove(&sweep, (struct word *)all.data + all.n - 1);
	vec_free(&all);
}
