// SPDX-License-Identifier: GPL-2.0
/*
 * Wrong wiring: probes come back, but with more or fewer hops than their
 * segment list has. The list itself cannot show this, as routers do not change
 * it. If cables are swapped and routing finds another way to the next segment,
 * the hop limit shows it; if routing finds none, probes are lost: see
 * suspects.c.
 */
#include <string.h>

#include "probing.h"
#include "srpold.h"

#define CABLES_MAX	8	/* that are remembered */

/*
 * Each router but the first leaf has a SID in the list; the last SID is the
 * host's.
 */
static uint32_t hops_wanted(const struct engine_path *path)
{
	return path->loop.hops;
}

static uint32_t hops_of(const struct engine_path *path)
{
	return PROBE_HOP_LIMIT - probe_map_at(path->probe)->hop_limit;
}

/**
 * wiring_is_wrong() - whether a path's probe takes a wrong number of hops
 * @path: the path, which is its own leader
 */
bool wiring_is_wrong(const struct engine_path *path)
{
	return probe_map_at(path->probe)->received &&
	       hops_of(path) != hops_wanted(path);
}

/* Unknown if probes do not come back. */
static int judge(const struct engine_path *path)
{
	return path->stats.received && liveness_usable(&path->live) ?
	       wiring_is_wrong(path) : -1;
}

/**
 * wiring_find() - cables that would explain wrong numbers of hops
 * @engine: the engine
 * @suspects: result
 * @max: room in @suspects
 *
 * Return: number of suspects.
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

static struct locate_suspect told[CABLES_MAX];
static size_t n_told;

/**
 * wiring_look() - log when wiring becomes wrong, and when it is right again
 * @engine: the engine
 */
void wiring_look(struct engine *engine)
{
	struct locate_suspect now[CABLES_MAX];
	size_t n = wiring_find(engine, now, CABLES_MAX), i;
	char name[LINK_NAME_LEN];

	for (i = 0; i < n; i++) {
		if (is_among(told, n_told, now[i].link))
			continue;
		link_name(engine->fabric, now[i].link, name, sizeof(name));
		log_notice("link %s: wrong wiring: %u probes over it come back by another number of hops than their segments",
			   name, now[i].explains);
	}
	for (i = 0; i < n_told; i++) {
		if (is_among(now, n, told[i].link))
			continue;
		link_name(engine->fabric, told[i].link, name, sizeof(name));
		log_notice("link %s: no sign of wrong wiring any more", name);
	}
	memcpy(told, now, n * sizeof(now[0]));
	n_told = n;
}

/**
 * wiring_forget() - forget what was logged: links have other numbers
 */
void wiring_forget(void)
{
	n_told = 0;
}
