// SPDX-License-Identifier: LGPL-2.1
/* The registry of algorithms, and the steps that are common to all of them. */
#include <errno.h>
#include <string.h>

#include "alg.h"
#include "srpol_lib.h"

static const struct srpol_alg *const algs[] = {
	&srpol_alg_ecmp,
	&srpol_alg_spread,
	&srpol_alg_wecmp,
	&srpol_alg_pinned,
	&srpol_alg_minmax,
	&srpol_alg_glb,
	&srpol_alg_adaptive,
	&srpol_alg_rotation,
};

#define N_ALGS	(sizeof(algs) / sizeof(*algs))

/**
 * srpol_alg_at() - iterate over all algorithms
 * @i: number, from 0
 *
 * Return: the algorithm, NULL after the last one.
 */
const struct srpol_alg *srpol_alg_at(unsigned int i)
{
	return i < N_ALGS ? algs[i] : NULL;
}

/**
 * srpol_alg_find() - find an algorithm by name
 * @name: name of the algorithm
 *
 * Return: the algorithm, NULL if there is none of this name.
 */
const struct srpol_alg *srpol_alg_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < N_ALGS; i++)
		if (!strcmp(algs[i]->name, name))
			return algs[i];
	return NULL;
}

static int check_input(const struct srpol_alg_input *in,
		       struct srpol_error *err)
{
	uint32_t d;

	if (in->links->n != in->fabric->n_links)
		return srpol_error_set(err, -EINVAL,
				       "links of another fabric");
	if (in->previous && in->previous->n != in->n)
		return srpol_error_set(err, -EINVAL,
				       "previous placement of %u demands, not %u",
				       in->previous->n, in->n);
	for (d = 0; d < in->n; d++) {
		if (in->demands[d].src >= in->fabric->n_gpus ||
		    in->demands[d].dst >= in->fabric->n_gpus)
			return srpol_error_set(err, -EINVAL,
					       "demand %u: no such GPU", d);
		if (in->demands[d].bytes >> 53)
			return srpol_error_set(err, -EINVAL,
					       "demand %u: 2^53 bytes or more",
					       d);
	}
	return 0;
}

/* Places demands one by one. */
static int place_each(const struct srpol_alg *alg,
		      const struct srpol_alg_input *in,
		      struct srpol_placement *out)
{
	struct srpol_path_set set;
	uint32_t d;
	int rc = 0;

	for (d = 0; d < in->n && !rc; d++) {
		rc = srpol_path_set_init(in->fabric, in->demands[d].src,
					 in->demands[d].dst, &set);
		if (!rc)
			rc = alg->place(in, d, &set, out);
		srpol_path_set_free(&set);
		srpol_placement_end(out, d);
	}
	return rc;
}

/**
 * srpol_alg_run() - place demands
 * @alg: the algorithm
 * @in: fabric, links, demands and options
 * @out: result, to be freed; NULL after an error
 * @err: reason of a failure
 *
 * A demand for which no usable path exists is left without shares and counted
 * as unplaced; that is not an error.
 *
 * Return: 0, -EINVAL for invalid input, -ENOMEM.
 */
int srpol_alg_run(const struct srpol_alg *alg,
		  const struct srpol_alg_input *in,
		  struct srpol_placement **out, struct srpol_error *err)
{
	struct srpol_placement *p;
	int rc;

	*out = NULL;
	rc = check_input(in, err);
	if (rc)
		return rc;
	p = srpol_placement_new(in->n);
	if (!p)
		rc = -ENOMEM;
	else if (alg->place)
		rc = place_each(alg, in, p);
	else
		rc = alg->run(in, p);
	if (!rc)
		rc = srpol_placement_predict(in, p);
	if (rc) {
		srpol_placement_free(p);
		if (rc == -ENOMEM)
			srpol_error_set(err, rc, "no memory");
		return rc;
	}
	*out = p;
	return 0;
}
