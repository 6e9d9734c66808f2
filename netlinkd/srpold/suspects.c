// SPDX-License-Identifier: GPL-2.0
/* Cables that would explain the probes that are lost now. */
#include "srpold.h"

/**
 * suspects_find() - cables that would explain lost probes
 * @engine: the engine
 * @suspects: result
 * @max: room there
 *
 * Return: number of them.
 */
size_t suspects_find(struct engine *engine, struct locate_suspect *suspects,
		     size_t max)
{
	struct vec probes = VEC_INIT(struct locate_probe);
	struct locate_probe *probe;
	struct engine_path *path;
	size_t n;

	vec_for_each(path, &engine->paths) {
		if (path != engine_path(engine, path->leader) || !path->up ||
		    (!path->stats.received && !path->stats.lost))
			continue;
		probe = vec_add(&probes);
		*probe = path->links;
		probe->lost = !liveness_usable(&path->live);
	}
	n = locate(probes.data, probes.n, engine->fabric->n_links / 2,
		   suspects, max);
	vec_free(&probes);
	return n;
}
