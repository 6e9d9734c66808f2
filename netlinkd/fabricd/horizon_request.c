// SPDX-License-Identifier: GPL-2.0
/*
 * srpol fabric horizons: what links will carry in 1, 5 and 10 s according to
 * the plan in force, and the first link that will be overloaded. For each pair
 * of hosts the first available source counts: reservations, announcements of
 * jobs, forecasts of hosts. Without any of these, nothing is assumed.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forecasts.h"
#include "horizon.h"
#include "srpol_lib.h"
#include "times.h"

#define HORIZONS	3
#define HOT_MAX		5	/* links listed for each horizon */
#define JOBS_MAX	200	/* jobs and forecasts listed */
#define FINISH_MAX	4096	/* demands; more would take too long */

static const double horizons[HORIZONS] = { 1, 5, 10 };

/**
 * struct ahead - input of the forecast
 * @timed: struct srpol_timed: demands with times
 * @job: uint32_t: index of each demand's job, SRPOL_NONE: forecast
 * @reserved: reserved bit/s by directed link
 * @n_reserved: number of demands in @reserved
 */
struct ahead {
	struct vec timed;
	struct vec job;
	double *reserved;
	uint32_t n_reserved;
};

static double seconds_from(uint64_t now_ms, uint64_t ms)
{
	return ms > now_ms ? (ms - now_ms) / 1000.0 : 0;
}

static struct srpol_timed *add(struct ahead *a, const struct srpol_demand *d,
			       uint32_t job)
{
	struct srpol_timed *t = vec_add(&a->timed);

	*(uint32_t *)vec_add(&a->job) = job;
	*t = (struct srpol_timed){ .demand = *d, .end = INFINITY };
	return t;
}

/*
 * Bytes left of a demand that is sent once, at a constant rate, and has begun.
 */
static uint64_t left_of(uint64_t bytes, uint64_t start, uint64_t end,
			uint64_t now)
{
	if (start >= now)
		return bytes;
	return (unsigned __int128)bytes * (end - now) / (end - start) ?: 1;
}

static void put_times(struct srpol_timed *t, const struct srpol_times *times,
		      uint64_t now)
{
	uint64_t end = times->start_ms + times->duration_ms;

	t->start = seconds_from(now, times->start_ms);
	t->rate = srpol_forecast_rate(t->demand.bytes, times->duration_ms,
				      times->period_ms);
	/* without a start its end is not known */
	if (!times->start_ms || !times->duration_ms)
		return;
	t->end = seconds_from(now, end);
	if (!times->period_ms)
		t->demand.bytes = left_of(t->demand.bytes, times->start_ms,
					  end, now);
}

static bool is_over(const struct srpol_times *times, uint64_t now)
{
	return times->start_ms && times->duration_ms &&
	       times->start_ms + times->duration_ms <= now;
}

static void read_times(const struct input *job, struct srpol_times *times)
{
	json_t *o = json_loadb(job->text, job->len, 0, NULL);

	/* the text was valid when it was received */
	srpol_times_read(o, times, NULL);
	json_decref(o);
}

static int add_jobs(struct ahead *a, uint64_t now)
{
	char tenant[SRPOL_NAME_LEN], name[SRPOL_NAME_LEN];
	const struct input *jobs = fabricd.jobs.data;
	uint32_t i, job = SRPOL_NONE;
	struct srpol_times times;
	struct srpol_timed *t;
	bool reserved = false;
	struct workload w;
	int ret = workload_read(WORKLOAD_JOBS, NULL, &w);

	for (i = 0; i < w.demands.n && !ret; i++) {
		if (w.job[i] != job) {
			job = w.job[i];
			job_names(&jobs[job], tenant, name);
			reserved = reservation_is_live(
				reservation_find(tenant, name));
			read_times(&jobs[job], &times);
		}
		if (!reserved && is_over(&times, now))
			continue;
		t = add(a, &w.demands.list[i], job);
		if (reserved)
			a->n_reserved++;
		else
			put_times(t, &times, now);
	}
	workload_free(&w);
	return ret;
}

static int add_forecasts(struct ahead *a, uint64_t now)
{
	struct srpol_demand demand = { .color = 1 };
	struct forecast_pairs pairs;
	struct srpol_forecast d;
	struct srpol_timed *t;
	uint32_t i = 0;
	size_t at = 0;
	int ret = forecast_pairs_read(&pairs);

	while (!ret && forecasts_next(&at, &i, &d)) {
		if (d.end_ms <= now || forecast_is_covered(&pairs, &d) ||
		    seconds_from(now, d.start_ms) > horizons[HORIZONS - 1])
			continue;
		demand.src = d.src;
		demand.dst = d.dst;
		demand.bytes = d.bytes;
		t = add(a, &demand, SRPOL_NONE);
		put_times(t, &(struct srpol_times){
			d.start_ms, d.end_ms - d.start_ms, d.period_ms }, now);
	}
	forecast_pairs_free(&pairs);
	return ret;
}

static int read_reserved(struct ahead *a)
{
	struct srpol_links *part = reservable(fabricd.links);
	struct srpol_ledger ledger = {};
	int ret;

	a->reserved = calloc(fabricd.fabric->n_links + 1UL,
			     sizeof(*a->reserved));
	ret = part && a->reserved ? reservations_ledger(part, &ledger) :
	      -ENOMEM;
	ret = ret ?: srpol_ledger_load(&ledger, a->reserved);
	ledger_free(&ledger);
	srpol_links_free(part);
	return ret;
}

static json_t *link_json(uint32_t l, double load)
{
	const struct srpol_link *link = &fabricd.fabric->links[l];
	uint64_t capacity = fabricd.links->links[l].capacity;

	return json_pack("{s:s, s:s, s:I, s:I, s:o}",
			 "from", node_name(link->from),
			 "to", node_name(link->to),
			 "bps", (json_int_t)(load + 0.5),
			 "capacity", (json_int_t)capacity,
			 "part", capacity ? json_real(load / capacity) :
			 json_null());
}

static double part_of(const double *load, uint32_t l)
{
	uint64_t capacity = fabricd.links->links[l].capacity;

	return load[l] < 0.5 ? 0 : capacity ? load[l] / capacity : INFINITY;
}

/* The busiest links in falling order. */
static json_t *hot_json(const double *load)
{
	uint32_t hot[HOT_MAX], n = 0, l, i;
	json_t *list = json_array();
	double part;

	for (l = 0; l < fabricd.fabric->n_links; l++) {
		part = part_of(load, l);
		if (!part || (n == HOT_MAX && part <= part_of(load, hot[n - 1])))
			continue;
		i = n < HOT_MAX ? n++ : n - 1;
		for (; i && part > part_of(load, hot[i - 1]); i--)
			hot[i] = hot[i - 1];
		hot[i] = l;
	}
	for (i = 0; i < n; i++)
		json_array_append_new(list, link_json(hot[i], load[hot[i]]));
	return list;
}

static json_t *horizons_json(const struct srpol_outlook *o)
{
	const struct srpol_horizon *h;
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < o->n_horizons; i++) {
		h = &o->horizons[i];
		json_array_append_new(list, json_pack(
			"{s:f, s:I, s:o, s:I, s:o}", "in_s", h->at,
			"demands", (json_int_t)h->active,
			"ended", o->no_finish ? json_null() :
			json_integer(h->ended),
			"overloaded", (json_int_t)h->overloaded,
			"links", hot_json(h->load)));
	}
	return list;
}

static json_t *end_json(double s)
{
	return isfinite(s) ? json_real(s) : json_null();
}

static const char *source_of(const struct ahead *a, uint32_t i)
{
	char tenant[SRPOL_NAME_LEN], name[SRPOL_NAME_LEN];
	uint32_t job = ((uint32_t *)a->job.data)[i];
	const struct srpol_timed *t = (struct srpol_timed *)a->timed.data + i;

	if (job == SRPOL_NONE)
		return "forecast";
	job_names((struct input *)fabricd.jobs.data + job, tenant, name);
	if (reservation_is_live(reservation_find(tenant, name)))
		return "reservation";
	return t->rate ? "job" : "untimed";
}

/*
 * When the last demand of each job, and of each host's forecasts, has been
 * sent.
 */
static json_t *ends_json(const struct ahead *a, const struct srpol_outlook *o)
{
	const uint32_t *job = a->job.data;
	json_t *list = json_array();
	const char *name;
	uint32_t i, k, host;
	double end;

	for (i = 0; i < o->n && json_array_size(list) < JOBS_MAX; i = k) {
		host = fabricd.fabric->gpus[o->timed[i].demand.src].host;
		end = 0;
		for (k = i; k < o->n && job[k] == job[i] &&
		     (job[i] != SRPOL_NONE || fabricd.fabric->gpus[
			o->timed[k].demand.src].host == host); k++)
			end = fmax(end, o->finish[k]);
		name = job[i] == SRPOL_NONE ? node_name(host) :
		       ((struct input *)fabricd.jobs.data + job[i])->key +
		       strlen("job/");
		json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:o}",
			"source", source_of(a, i), "name", name,
			"demands", (json_int_t)(k - i), "end_s",
			end_json(end)));
	}
	return list;
}

static json_t *result(const struct ahead *a, const struct srpol_outlook *o)
{
	json_t *first = json_null();

	if (o->link != SRPOL_NONE) {
		first = link_json(o->link, o->load);
		json_object_set_new(first, "in_s", json_real(o->when));
	}
	return json_pack("{s:I, s:f, s:I, s:I, s:I, s:o, s:o, s:o}",
			 "epoch", (json_int_t)fabricd.epoch.index.epoch,
			 "tick_s", 1.0 / SRPOL_HORIZON_TICKS,
			 "demands", (json_int_t)o->n,
			 "reserved", (json_int_t)a->n_reserved,
			 "untimed", (json_int_t)(o->untimed - a->n_reserved),
			 "first_overload", first,
			 "horizons", horizons_json(o),
			 "ends", o->no_finish ? json_null() : ends_json(a, o));
}

/**
 * horizons_request() - handle srpol fabric horizons
 * @request: no further members
 * @err: message if there is no plan
 */
json_t *horizons_request(const json_t *request, struct srpol_error *err)
{
	struct ahead a = {
		.timed = VEC_INIT(struct srpol_timed),
		.job = VEC_INIT(uint32_t),
	};
	struct srpol_horizon h[HORIZONS] = {};
	struct srpol_outlook o = { .horizons = h, .n_horizons = HORIZONS };
	uint64_t now = forecasts_now_ms();
	json_t *reply = NULL;
	uint32_t i;

	if (!plan_in_force(err))
		return NULL;
	for (i = 0; i < HORIZONS; i++)
		h[i].at = horizons[i];
	if (!read_reserved(&a) && !add_jobs(&a, now) &&
	    !add_forecasts(&a, now)) {
		o.fabric = fabricd.fabric;
		o.links = fabricd.links;
		o.plan = fabricd.plan;
		o.timed = a.timed.data;
		o.n = a.timed.n;
		o.base = a.reserved;
		o.no_finish = o.n > FINISH_MAX;
		if (!srpol_outlook_run(&o))
			reply = result(&a, &o);
		srpol_outlook_free(&o);
	}
	vec_free(&a.timed);
	vec_free(&a.job);
	free(a.reserved);
	return reply;
}
