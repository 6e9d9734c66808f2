// SPDX-License-Identifier: GPL-2.0
/* Cables that would explain what is wrong with probes. */
#include <string.h>

#include "srpold.h"

/**
 * suspects_by() - cables that would explain bad results of probes
 * @engine: the engine
 * @judge: for a path that is its own leader: 1 if its result is bad, 0 if it is
 *	good, negative if it is not known
 * @suspects: result
 * @max: room in @suspects
 *
 * Return: number of suspects.
 */
size_t suspects_by(struct engine *engine,
		   int (*judge)(const struct engine_path *path),
		   struct locate_suspect *suspects, size_t max)
{
	struct vec probes = VEC_INIT(struct locate_probe);
	struct locate_probe *probe;
	struct engine_path *path;
	size_t n;
	int bad;

	vec_for_each(path, &engine->paths) {
		if (path != engine_path(engine, path->leader) || !path->up)
			continue;
		bad = judge(path);
		if (bad < 0)
			continue;
		probe = vec_add(&probes);
		*probe = path->links;
		probe->lost = bad;
	}
	n = locate(probes.data, probes.n, engine->fabric->n_links / 2,
		   suspects, max);
	vec_free(&probes);
	return n;
}

/*
 * A path that is on its way down or up says nothing: the others over the same link
 * follow within an interval, and until then it would clear that link, or suspect all
 * others of its own.
 */
static int is_lost(const struct engine_path *path)
{
	if (path->live.state == LIVENESS_SUSPECT ||
	    path->live.state == LIVENESS_RECOVERING)
		return -1;
	return path->stats.received || path->stats.lost ?
	       !liveness_usable(&path->live) : -1;
}

/**
 * suspects_find() - cables that would explain the probes that are lost now
 * @engine: the engine
 * @suspects: result
 * @max: room in @suspects
 *
 * Return: number of suspects.
 */
size_t suspects_find(struct engine *engine, struct locate_suspect *suspects,
		     size_t max)
{
	return suspects_by(engine, is_lost, suspects, max);
}

/**
 * suspects_told() - what the global engine is told of suspects_find()
 * @engine: the engine
 * @told: result: each suspect with its rivals, SUSPECTS_TOLD at most
 *
 * Return: number of suspicions.
 */
size_t suspects_told(struct engine *engine, struct follow_suspicion *told)
{
	struct locate_suspect found[SUSPECTS_TOLD];
	struct follow_suspicion *s;
	size_t n, i;

	_Static_assert(FOLLOW_SUSPECTS >= LOCATE_LINKS,
		       "a suspect and its rivals");
	n = suspects_find(engine, found, SUSPECTS_TOLD);
	for (i = 0; i < n; i++) {
		s = &told[i];
		*s = (struct follow_suspicion){
			.confidence = found[i].confidence,
			.n = 1 + found[i].n_rivals,
			.cable[0] = found[i].link,
		};
		/* others explain a part of it, but none explains all: that is sure */
		if (s->n == 1 && s->confidence < FOLLOW_SURE)
			s->confidence = FOLLOW_SURE;
		memcpy(s->cable + 1, found[i].rival,
		       found[i].n_rivals * sizeof(s->cable[0]));
	}
	return n;
}
