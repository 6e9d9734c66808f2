// SPDX-License-Identifier: GPL-2.0
/*
 * Links that this host reports: those that it believes to carry less than the
 * topology says, and those that explain lost probes. It checks often, so that a
 * failed link is reported at once, but gathers links only if the state of paths
 * or links has changed.
 */
#include <stdlib.h>
#include <string.h>

#include "srpold.h"

#define LOOK_NS		(100 * NS_PER_MS)
#define SUSPECTS_MAX	16

static void look(void *data);

static struct engine *engine;
static struct alarm alarm = ALARM_INIT(look, NULL);
static struct vec links = VEC_INIT(struct follow_link);

static struct follow_link *find(uint32_t cable)
{
	struct follow_link *link;

	vec_for_each(link, &links)
		if (link->cable == cable)
			return link;
	link = vec_add(&links);
	link->cable = cable;
	return link;
}

static void gather(void)
{
	struct locate_suspect suspects[SUSPECTS_MAX];
	const struct srpol_links *known = engine->links.links;
	size_t n, i;

	links.n = 0;
	for (i = 0; i < engine->links.n; i++)
		if (known->links[2 * i].capacity <
		    srpol_link_rate(&engine->fabric->links[2 * i]))
			find(i)->capacity = known->links[2 * i].capacity;
	n = suspects_find(engine, suspects, SUSPECTS_MAX);
	for (i = 0; i < n; i++)
		find(suspects[i].link)->capacity = 0;
}

/* A hash of the state of paths and links. */
static uint64_t state(void)
{
	uint64_t hash = engine->links.links->version;
	const struct engine_path *path;
	uint32_t i = 0;

	vec_for_each(path, &engine->paths) {
		i++;
		if (path->up && !liveness_usable(&path->live))
			hash = srpol_mix(hash ^ i);
	}
	return hash;
}

/*
 * The report is repeated even if nothing changed: a link that got better counts
 * as better only after a while.
 */
static void look(void *data)
{
	static uint64_t before;
	uint64_t now = state();
	bool news;

	alarm_set(&alarm, LOOK_NS);
	if (now != before)
		gather();
	news = plan_tell(links.data, links.n) || now != before;
	before = now;
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
	gather();
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
}
