// SPDX-License-Identifier: GPL-2.0
/*
 * Wrong wiring: probes that come back, but by more or fewer hops than their
 * segment list has. Routers do not change the list, so that it cannot show that;
 * where cables are swapped and routing finds another way to the next segment, the
 * hop limit does. Where it finds none, probes are lost: suspects.c.
 */
#include <string.h>

#include "probing.h"
#include "srpold.h"

#define CABLES_MAX	8	/* that are told */

/* Each router but the first leaf has a SID in the list, the host the last one. */
static uint32_t hops_wanted(const struct engine_path *path)
{
	return path->loop.n;
}

static uint32_t hops_of(const struct engine_path *path)
{
	return PROBE_HOP_LIMIT - probe_map_at(path->probe)->hop_limit;
}

/**
 * wiring_is_wrong() - does a path's probe take another number of hops?
 * @path: the path, one that is probed itself
 */
bool wiring_is_wrong(const struct engine_path *path)
{
	return probe_map_at(path->probe)->received &&
	       hops_of(path) != hops_wanted(path);
}

/* Of probes that do not come back nobody knows. */
static int judge(const struct engine_path *path)
{
	return path->stats.received && liveness_usable(&path->live) ?
	       wiring_is_wrong(path) : -1;
}

/**
 * wiring_find() - cables that would explain wrong numbers of hops
 * @engine: the engine
 * @suspects: result
 * @max: room there
 *
 * Return: number of them.
 */
size_t wiring_find(struct engine *engine, struct locate_suspect *suspects,
		   size_t max)
{
	return suspects_by(engine, judge, suspects, max);
}

static bool is_among(const struct locate_suspect *list, size_t n,
		     uint32_t link)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i].link == link)
			return true;
	return false;
}

/**
 * wiring_look() - say so when it becomes wrong, and when it is right again
 * @engine: the engine
 */
void wiring_look(struct engine *engine)
{
	static struct locate_suspect told[CABLES_MAX];
	struct locate_suspect now[CABLES_MAX];
	size_t n = wiring_find(engine, now, CABLES_MAX), i;
	static size_t n_told;
	char name[LINK_NAME_LEN];

	for (i = 0; i < n; i++) {
		if (is_among(told, n_told, now[i].link))
			continue;
		link_name(engine->fabric, now[i].link, name, sizeof(name));
		log_notice("link %s: wrong wiring: %u probes over it come back by another number of hops than their segments",
			   name, now[i].explains);
	}
	for (i = 0; i < n_told; i++) {
		if (told[i].link >= engine->fabric->n_links / 2 ||
		    is_among(now, n, told[i].link))
			continue;
		link_name(engine->fabric, told[i].link, name, sizeof(name));
		log_notice("link %s: no sign of wrong wiring any more", name);
	}
	memcpy(told, now, n * sizeof(now[0]));
	n_told = n;
}
