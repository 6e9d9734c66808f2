// SPDX-License-Identifier: GPL-2.0
/* How time and memory grow with the number of GPUs. */
#include <malloc.h>
#include <math.h>
#include <stdlib.h>

#include "sim.h"

#define RATE	(400 * GBPS)

static double used_mib(void)
{
	struct mallinfo2 m = mallinfo2();

	return (m.uordblks + m.hblkhd) / 1048576.0;
}

/* Permutation traffic: one demand per GPU. */
static void plan(struct srpol_shape shape, const char *name, bool run)
{
	double start, made, planned, before, bound, t;
	struct srpol_placement *p;
	struct srpol_plan *weights;
	struct srpol_alg_input in;
	struct rig r;
	char row[64];

	start = seconds();
	before = used_mib();
	rig_up(&r, shape);
	work_permutation(&r, 1, 64 * MIB);
	made = seconds();
	p = scheme_place(&r, SCHEME_MINMAX, 0);
	planned = seconds();
	bound = rig_bound(&r, NULL);
	snprintf(row, sizeof(row), "%s-gpus", name);
	out_row("scale", row, r.f->n_gpus);
	snprintf(row, sizeof(row), "%s-fabric-s", name);
	out_row("scale", row, made - start);
	snprintf(row, sizeof(row), "%s-plan-s", name);
	out_row("scale", row, planned - made);
	snprintf(row, sizeof(row), "%s-load", name);
	out_row("scale", row, p->prediction.seconds / bound);
	snprintf(row, sizeof(row), "%s-mib", name);
	out_row("scale", row, used_mib() - before);
	in = rig_input(&r);
	weights = srpol_plan_new(&in, p);
	if (!weights)
		die("no memory");
	snprintf(row, sizeof(row), "%s-plan-mib", name);
	out_row("scale", row, weights->first[weights->n] / 2 / 1048576.0);
	srpol_plan_free(weights);
	if (run) {
		start = seconds();
		t = scheme_time(&r, SCHEME_MINMAX, 0) / bound;
		snprintf(row, sizeof(row), "%s-run-s", name);
		out_row("scale", row, seconds() - start);
		snprintf(row, sizeof(row), "%s-time", name);
		out_row("scale", row, t);
	}
	if (run && r.f->n_gpus == 10240) {
		out_row("scale", "plan", planned - made);
		start = seconds();
		for (int s = 0; s < SCHEMES; s++)
			if (s == SCHEME_ECMP1 || s == SCHEME_MINMAX)
				scheme_time(&r, s, 0);
		out_row("scale", "run", seconds() - start + planned - made);
	}
	/* one link is halved: what a change costs */
	srpol_links_set_capacity(r.links, srpol_node_up(r.f, r.f->nics[0].leaf,
							1), RATE / 2);
	in.previous = p;
	start = seconds();
	{
		struct srpol_error err = {};
		struct srpol_placement *next;

		if (srpol_alg_run(&srpol_alg_minmax, &in, &next, &err))
			die(err.text);
		snprintf(row, sizeof(row), "%s-change-s", name);
		out_row("scale", row, seconds() - start);
		snprintf(row, sizeof(row), "%s-change-moved", name);
		out_row("scale", row, next->prediction.moved);
		srpol_placement_free(next);
	}
	srpol_placement_free(p);
	rig_down(&r);
}

static void all_to_all(void)
{
	struct srpol_placement *p;
	double start, best = INFINITY;
	uint32_t ranks[128], i;
	struct rig r;

	rig_up(&r, srpol_shape_leaf_spine(8, 16, 16, RATE));
	ranks_in_order(ranks, 128);
	work_all_to_all(&r, ranks, 128, 64 * MIB);
	for (i = 0; i < 5; i++) {
		start = seconds();
		p = scheme_place(&r, SCHEME_MINMAX, 0);
		best = fmin(best, seconds() - start);
		srpol_placement_free(p);
	}
	out_row("scale", "all-to-all", best);
	rig_down(&r);
}

void case_scale(bool check)
{
	all_to_all();
	plan(srpol_shape_leaf_spine(32, 32, 32, RATE), "leaf-spine-1k", true);
	plan(srpol_shape_leaf_spine(160, 64, 64, RATE), "leaf-spine-10k", true);
	if (check)
		return;
	plan(srpol_shape_leaf_spine(64, 32, 32, RATE), "leaf-spine-2k", true);
	plan(srpol_shape_leaf_spine(64, 64, 64, RATE), "leaf-spine-4k", true);
	plan(srpol_shape_clos(16, 32, 32, 32, 32, RATE), "clos-16k", false);
	plan(srpol_shape_clos(32, 32, 32, 32, 32, RATE), "clos-32k", false);
	plan(srpol_shape_clos(64, 32, 32, 32, 32, RATE), "clos-64k", false);
	plan(srpol_shape_clos(100, 32, 32, 32, 32, RATE), "clos-100k", false);
}
