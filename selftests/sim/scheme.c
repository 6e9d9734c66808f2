// SPDX-License-Identifier: GPL-2.0
/* Schemes: what decides on paths, and how long a workload takes under it. */
#include <math.h>
#include <stdlib.h>

#include "sim.h"

const char *const scheme_name[SCHEMES] = {
	[SCHEME_ECMP1] = "ecmp1", [SCHEME_ECMP4] = "ecmp4",
	[SCHEME_ECMP16] = "ecmp16", [SCHEME_FLOWLET] = "flowlet",
	[SCHEME_SPRAY] = "spray", [SCHEME_ADAPTIVE] = "adaptive",
	[SCHEME_REPS] = "reps", [SCHEME_MRC] = "mrc",
	[SCHEME_ETHEREAL] = "ethereal", [SCHEME_WECMP] = "wecmp",
	[SCHEME_MINMAX] = "minmax", [SCHEME_MINMAX_QPS] = "minmax-qps",
};

bool scheme_is_random(enum scheme s)
{
	return s <= SCHEME_FLOWLET;
}

/* Packets of one flow on several paths, which the slowest path holds up. */
bool scheme_is_coupled(enum scheme s)
{
	return s == SCHEME_SPRAY || s == SCHEME_WECMP ||
	       s == SCHEME_ADAPTIVE || s == SCHEME_REPS || s == SCHEME_MINMAX;
}

struct srpol_placement *scheme_place(const struct rig *r, enum scheme s,
				     uint64_t seed)
{
	static const char *const algs[SCHEMES] = {
		[SCHEME_ECMP1] = "ecmp", [SCHEME_ECMP4] = "ecmp",
		[SCHEME_ECMP16] = "ecmp", [SCHEME_FLOWLET] = "ecmp",
		[SCHEME_SPRAY] = "rotation", [SCHEME_ADAPTIVE] = "rotation",
		[SCHEME_REPS] = "rotation", [SCHEME_MRC] = "rotation",
		[SCHEME_ETHEREAL] = "spread", [SCHEME_WECMP] = "wecmp",
		[SCHEME_MINMAX] = "minmax", [SCHEME_MINMAX_QPS] = "minmax",
	};
	struct srpol_alg_input in = rig_input(r);
	struct srpol_error err = {};
	struct srpol_placement *p;

	in.options.seed = seed;
	in.options.qps = s == SCHEME_ECMP16 ? 16 : s == SCHEME_ECMP4 ? 4 : 1;
	if (srpol_alg_run(srpol_alg_find(algs[s]), &in, &p, &err))
		die(err.text);
	return p;
}

/* Seconds until the last demand has ended. */
double scheme_time(const struct rig *r, enum scheme s, uint64_t seed)
{
	struct srpol_alg_input in = rig_input(r);
	struct srpol_placement *p;
	double *finish, last = 0;
	uint32_t i;

	if (s == SCHEME_FLOWLET || s == SCHEME_ADAPTIVE || s == SCHEME_REPS ||
	    s == SCHEME_MRC)
		return epoch_time(r, s, seed);
	p = scheme_place(r, s, seed);
	finish = malloc((r->n + 1) * sizeof(*finish));
	if (!finish || srpol_predict(&in, p, scheme_is_coupled(s), NULL,
				     finish))
		die("no memory");
	for (i = 0; i < r->n; i++)
		last = fmax(last, finish[i]);
	free(finish);
	srpol_placement_free(p);
	return last;
}
