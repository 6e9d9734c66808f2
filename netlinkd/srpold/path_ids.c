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

/**
 * path_ids_check() - could all paths have an id, if nobody else had one from
 *	"first-path"?
 * @engine: the engine, as engine_build() leaves it
 * @kept: number of paths in force, which keep their ids, also those below that
 * @err: message if they could not
 */
int path_ids_check(const struct engine *engine, size_t kept, struct srpol_error *err)
{
	return count_needed(engine) <= SRPOL_MAX_PATHS - engine->config.first_path + kept ? 0 :
	       path_ids_lack(engine, SRPOL_MAX_PATHS, err);
}
