// SPDX-License-Identifier: GPL-2.0
/*
 * Links that this host reports: those that it believes to carry less than the
 * topology says, those that explain lost probes, and those that probes pass. It
 * checks often, so that a failed link is reported at once, but gathers links only
 * if the state of paths or links has changed.
 */
#include <stdlib.h>

#include "srpold.h"

#define LOOK_NS		(100 * NS_PER_MS)

static void look(void *data);

static struct engine *engine;
static struct alarm alarm = ALARM_INIT(look, NULL);
static struct vec links = VEC_INIT(struct follow_link);
static struct follow_suspicion suspicions[SUSPECTS_TOLD];
static struct follow_known known;
static bool *passes;		/* by cable */
static bool gathered;		/* since the start */
static uint64_t before;		/* state() at the last look */
static uint64_t version;	/* of the links' capacities, then */
static uint32_t doubts;		/* count_doubts() when links were gathered */

static void gather_links(void)
{
	const struct srpol_links *now = engine->links.links;
	struct follow_link *link;
	size_t i;

	links.n = 0;
	for (i = 0; i < engine->links.n; i++) {
		if (now->links[2 * i].capacity >=
		    srpol_link_rate(&engine->fabric->links[2 * i]))
			continue;
		link = vec_add(&links);
		link->cable = i;
		link->capacity = now->links[2 * i].capacity;
	}
	known.links = links.data;
	known.n_links = links.n;
}

static void gather_suspicions(void)
{
	known.suspicions = suspicions;
	known.n_suspicions = suspects_told(engine, suspicions);
}

/* Others have no probe of their own, and so no state that says anything. */
static bool is_leader(const struct engine_path *path)
{
	return path == engine_path(engine, path->leader);
}

/* Do probes of a path come back? */
static bool is_passed(const struct engine_path *path)
{
	return is_leader(path) && path->up && liveness_usable(&path->live) &&
	       path->stats.received;
}

static void gather_passes(void)
{
	const struct engine_path *path;
	uint32_t k;

	free(passes);
	passes = store_alloc(engine->links.n * sizeof(*passes));
	vec_for_each(path, &engine->paths)
		for (k = 0; is_passed(path) && k < path->links.n; k++)
			passes[path->links.link[k]] = true;
	known.passes = passes;
}

static void gather(void)
{
	gather_links();
	gather_suspicions();
	gather_passes();
}

/*
 * Paths that have just lost a probe. These clear no link, see suspects.c: what is suspected
 * meanwhile may be less sure, and is asked once more when there are fewer of them. Since
 * probes get lost now and then, links are not gathered for one more of them: an explanation
 * that was sure would be less so, and the report news, and once more when the path is up.
 */
static uint32_t count_doubts(void)
{
	const struct engine_path *path;
	uint32_t n = 0;

	vec_for_each(path, &engine->paths)
		n += is_leader(path) && path->live.state == LIVENESS_SUSPECT;
	return n;
}

/* A hash of the state of paths and links. */
static uint64_t state(void)
{
	uint64_t hash = engine->links.links->version;
	const struct engine_path *path;
	uint32_t i = 0, live;

	vec_for_each(path, &engine->paths) {
		i++;
		live = liveness_usable(&path->live) ? LIVENESS_UP : path->live.state;
		if (is_leader(path))
			hash = srpol_mix(hash ^ (32ull * i + 16 * !!path->stats.received +
						 8 * path->up + live));
	}
	return hash;
}

/*
 * The report is repeated even if nothing changed: a link that got better counts
 * as better only after a while.
 */
static void look(void *data)
{
	uint64_t now = state(), links_now = engine->links.links->version;
	uint32_t doubts_now = count_doubts();
	bool news;

	alarm_set(&alarm, LOOK_NS);
	if (!gathered || now != before || doubts_now < doubts) {
		gather();
		doubts = doubts_now;
	}
	/* probes get lost now and then: that is no reason to weigh all policies */
	news = plan_tell(&known) || !gathered || links_now != version;
	gathered = true;
	before = now;
	version = links_now;
	/*
	 * the local candidate path applies until the plan includes the report
	 */
	if (news && plan_weigh())
		balance_apply();
}

/**
 * plan_links_start() - begin to report links
 * @e: the engine
 */
void plan_links_start(struct engine *e)
{
	engine = e;
	if (!plan_is_followed())
		return;
	/* what an earlier engine knew may hash to the same */
	gathered = false;
	alarm_set(&alarm, LOOK_NS);
}

/**
 * plan_links_stop() - stop reporting
 */
void plan_links_stop(void)
{
	alarm_stop(&alarm);
	vec_free(&links);
	links = (struct vec)VEC_INIT(struct follow_link);
	free(passes);
	passes = NULL;
	known = (struct follow_known){};
}
