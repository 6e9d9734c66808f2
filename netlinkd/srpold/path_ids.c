// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <net/if.h>

#include "path_ids.h"
#include "srpol_lib.h"

/**
 * path_ids_lack() - say that there are not enough ids for all paths
 * @engine: the engine
 * @end: the first number that is no id any more
 * @err: the message
 *
 * Return: -ENOSPC.
 */
int path_ids_lack(const struct engine *engine, uint32_t end, struct srpol_error *err)
{
	return srpol_error_set(err, -ENOSPC,
			       "%zu paths to %zu endpoints, and no room for them: ids end with %u, and begin with \"first-path\", %u",
			       engine->paths.n, engine->policies.n, end - 1,
			       engine->config.first_path);
}

/* Paths that need an id: over a NIC that is in this namespace, if any of them is. */
static size_t count_needed(const struct engine *engine)
{
	const struct srpol_nic *nics = engine->fabric->nics;
	const struct engine_path *path;
	size_t all = 0, here = 0;
	uint32_t nic = SRPOL_NONE;
	bool is_here = false;

	vec_for_each(path, &engine->paths) {
		if (path->nic != nic)
			is_here = if_nametoindex(nics[path->nic].name);
		nic = path->nic;
		all += path->segs.n != 0;
		here += path->segs.n && is_here;
	}
	return here ?: all;
}

/* Paths in force whose ids are below those that are given now. */
static size_t count_below(const struct engine *now, uint32_t first)
{
	const struct engine_path *path;
	size_t n = 0;

	vec_for_each(path, &now->paths)
		n += path->id && path->id < first;
	return n;
}

/**
 * path_ids_check() - could all paths have an id, if nobody else had one from
 *	"first-path"?
 * @engine: the engine, as engine_build() leaves it
 * @now: that in force, whose paths keep their ids or give them to others, also those below
 *	that; NULL: there is none
 * @err: message if they could not
 */
int path_ids_check(const struct engine *engine, const struct engine *now,
		   struct srpol_error *err)
{
	uint32_t first = engine->config.first_path;
	size_t below = now ? count_below(now, first) : 0;

	return count_needed(engine) <= SRPOL_MAX_PATHS - first + below ? 0 :
	       path_ids_lack(engine, SRPOL_MAX_PATHS, err);
}

/**
 * path_ids_warn() - say that paths have ids only as they were there before
 * @engine: the engine in force
 *
 * What is accepted at a reload is not by an srpold that finds an empty module.
 */
void path_ids_warn(const struct engine *engine)
{
	struct srpol_error err = {};

	if (path_ids_check(engine, NULL, &err))
		log_notice("%s; this file is good only as long as paths of before keep ids below that",
			   err.text);
}
