// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what this host sends over links, for the global engine: per-path
 * byte counters of the data plane become a rate on each link that the path
 * takes. The counters cover packets as flows send them, without outer headers,
 * on paths that srpold made.
 */
#include <errno.h>
#include <stdlib.h>

#include "srpold.h"

static void look(void *data);

static struct engine *engine;
static struct alarm alarm = ALARM_INIT(look, NULL);
static uint64_t looked_ns;
static double *rates;		/* bit/s by directed link, for one host */
static double *smooth;		/* smoothed rates, by host and link */

/* Bytes that the path carried since the last look. */
static uint64_t more(struct engine_path *path, int stats)
{
	struct srpol_counter c;
	uint64_t n;

	if (!path->id || srpol_map_sum(stats, path->id, &c, sizeof(c)))
		return 0;
	n = c.bytes < path->load_bytes ? c.bytes : c.bytes - path->load_bytes;
	path->load_bytes = c.bytes;
	/*
	 * the count is from before srpold, or of an earlier path with this id
	 */
	if (path->load_id != path->id)
		n = 0;
	path->load_id = path->id;
	return n;
}

static void add_path(const struct engine_path *path, double rate)
{
	const struct srpol_fabric *f = engine->fabric;
	uint32_t at = f->nics[path->nic].host, link, i;

	for (i = 0; i < path->links.n; i++) {
		link = 2 * path->links.link[i];
		link += f->links[link].from != at;
		rates[link] += rate;
		at = f->links[link].to;
	}
	rates[path->last] += rate;
}

/*
 * Report the mean of the new and the previous rate, so that a single burst does
 * not count as load.
 */
static void tell(uint32_t number)
{
	double *was = smooth + (size_t)number * engine->fabric->n_links;
	struct vec loads = VEC_INIT(struct follow_load);
	uint32_t i;

	for (i = 0; i < engine->fabric->n_links; i++) {
		was[i] += (rates[i] - was[i]) / 2;
		rates[i] = 0;
		if (was[i] < 1000)
			continue;
		*(struct follow_load *)vec_add(&loads) = (struct follow_load){
			.link = i,
			.kbps = was[i] / 1000 < UINT32_MAX ? was[i] / 1000 :
				UINT32_MAX,
		};
	}
	plan_measured(number, loads.data, loads.n);
	vec_free(&loads);
}

static void look(void *data)
{
	uint64_t now = now_ns(), since = looked_ns ? now - looked_ns : 0;
	int stats = srpol_map_open("path_stats");
	struct engine_path *path;
	uint64_t bytes;
	uint32_t i;

	looked_ns = now;
	alarm_set(&alarm, engine->config.fabric.load_ns);
	for (i = 0; i < engine->config.n_hosts; i++) {
		vec_for_each(path, &engine->paths) {
			if (engine->fabric->nics[path->nic].host !=
			    plan_host(i))
				continue;
			bytes = more(path, stats);
			if (since && bytes)
				add_path(path, 8e9 * bytes / since);
		}
		if (since)
			tell(i);
	}
	srpol_map_close(stats);
}

/**
 * load_start() - begin to measure, if the global engine is followed
 * @e: the engine
 */
void load_start(struct engine *e)
{
	engine = e;
	if (!plan_is_followed() || !e->config.fabric.load_ns)
		return;
	rates = calloc(e->fabric->n_links + 1, sizeof(*rates));
	smooth = calloc((size_t)e->config.n_hosts * e->fabric->n_links + 1,
			sizeof(*smooth));
	if (!rates || !smooth) {
		log_error("no memory to measure loads");
		load_stop();
		return;
	}
	looked_ns = 0;
	look(NULL);
}

/**
 * load_stop() - stop measuring
 */
void load_stop(void)
{
	alarm_stop(&alarm);
	free(rates);
	free(smooth);
	rates = smooth = NULL;
}

/**
 * load_is_measured() - whether what this host sends over links is measured
 */
bool load_is_measured(void)
{
	return smooth;
}

/**
 * load_of() - what the hosts of this namespace send over a link
 * @link: directed link
 *
 * Return: bit/s; 0 unless load_is_measured().
 */
uint64_t load_of(uint32_t link)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; smooth && i < engine->config.n_hosts; i++)
		sum += smooth[(size_t)i * engine->fabric->n_links + link];
	return sum;
}
