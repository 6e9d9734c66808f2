// SPDX-License-Identifier: GPL-2.0
/* Workloads by schemes; what skew leaves to be gained; GLB's tables. */
#include <math.h>
#include <stdlib.h>

#include "sim.h"

#define RATE	(400 * GBPS)

static void all_schemes(const struct rig *r, const char *name, const char *what)
{
	double v[SEEDS], bound = rig_bound(r, NULL);
	enum scheme s;
	uint32_t k, n;
	char row[64];

	for (s = 0; s < SCHEMES; s++) {
		n = scheme_is_random(s) ? SEEDS : 1;
		for (k = 0; k < n; k++)
			v[k] = scheme_time(r, s, k) / bound;
		snprintf(row, sizeof(row), "%s-%s", what, scheme_name[s]);
		out_stat(name, row, v, n, bound);
	}
}

/* Part of the uplinks at half rate: 512 GPUs, permutation traffic. */
void case_uneven(bool check)
{
	double v[SCHEMES][SEEDS], bounds[SEEDS], bound = 0;
	uint32_t links[512], n, i, k, seeds = check ? 3 : SEEDS;
	uint64_t seed;
	enum scheme s;
	struct rig r;

	rig_up(&r, srpol_shape_leaf_spine(32, 16, 16, RATE));
	for (k = 0; k < seeds; k++) {
		rig_clear(&r);
		work_permutation(&r, k, 64 * MIB);
		n = rig_uplinks(&r, links);
		seed = k;
		rnd_shuffle(&seed, links, n);
		for (i = 0; i < n * 3 / 100; i++)
			rig_set_both(&r, links[i], RATE / 2);
		bound = rig_bound(&r, NULL);
		bounds[k] = 1;
		for (s = 0; s < SCHEMES; s++)
			v[s][k] = scheme_time(&r, s, k) / bound;
	}
	out_stat("uneven", "bound", bounds, seeds, bound);
	for (s = 0; s < SCHEMES; s++)
		out_stat("uneven", scheme_name[s], v[s], seeds, bound);
	rig_down(&r);
}

void case_collectives(void)
{
	uint32_t ranks[128], step;
	uint64_t seed = 4;
	struct rig r;
	char row[32];

	rig_up(&r, srpol_shape_leaf_spine(8, 16, 16, RATE));
	/* as a fragmented cluster has them */
	ranks_in_order(ranks, 128);
	rnd_shuffle(&seed, ranks, 128);
	work_all_gather(&r, ranks, 128, 64 * MIB);
	all_schemes(&r, "collectives", "all-gather");
	r.n = 0;
	work_tree(&r, ranks, 128, 64 * MIB);
	all_schemes(&r, "collectives", "tree");
	for (step = 0; step < 7; step += 3) {
		r.n = 0;
		work_halving(&r, ranks, 128, 64 * MIB, step);
		snprintf(row, sizeof(row), "halving-%u", step);
		all_schemes(&r, "collectives", row);
	}
	r.n = 0;
	work_pipeline(&r, ranks, 128, 64 * MIB);
	all_schemes(&r, "collectives", "pipeline");
	rig_down(&r);
}

/* The receiver's NIC is what skewed all-to-all waits for, not the fabric. */
void case_moe(void)
{
	static const double zipf[] = { 0, 0.5, 1, 1.5 };
	static const enum scheme schemes[] = {
		SCHEME_ECMP1, SCHEME_ECMP4, SCHEME_SPRAY, SCHEME_ETHEREAL,
		SCHEME_MINMAX,
	};
	struct srpol_bound bound;
	uint32_t ranks[64], z, s, k, n;
	double v[5];
	struct rig r;
	char row[64];

	rig_up(&r, srpol_shape_leaf_spine(4, 16, 16, RATE));
	ranks_in_order(ranks, 64);
	for (z = 0; z < ARRAY_SIZE(zipf); z++) {
		r.n = 0;
		work_moe(&r, ranks, 64, 64 * MIB, zipf[z], 3);
		rig_bound(&r, &bound);
		snprintf(row, sizeof(row), "zipf%g-receiver/sender", zipf[z]);
		out_row("moe", row, bound.receiver / bound.sender);
		snprintf(row, sizeof(row), "zipf%g-leaf/receiver", zipf[z]);
		out_row("moe", row, bound.leaf / bound.receiver);
		for (s = 0; s < ARRAY_SIZE(schemes); s++) {
			n = scheme_is_random(schemes[s]) ? 5 : 1;
			for (k = 0; k < n; k++)
				v[k] = scheme_time(&r, schemes[s], k) /
				       bound.receiver;
			snprintf(row, sizeof(row), "zipf%g-%s/receiver",
				 zipf[z], scheme_name[schemes[s]]);
			out_stat("moe", row, v, n, bound.all / bound.receiver);
		}
	}
	rig_down(&r);
}

void case_glb(void)
{
	static const char *const names[] = { "all", "pod", "spine" };
	struct srpol_glb_cost cost;
	uint32_t pods, domain;
	struct rig r;
	char row[64];

	for (pods = 2; pods <= 64; pods *= 2) {
		rig_up(&r, srpol_shape_clos(pods, 16, 1, 16, 16, RATE));
		for (domain = 0; domain < 3; domain++) {
			srpol_glb_cost(r.f, domain, &cost);
			snprintf(row, sizeof(row), "%s-%u-pods-entries",
				 names[domain], pods);
			out_row("glb", row, cost.entries);
			snprintf(row, sizeof(row), "%s-%u-pods-messages",
				 names[domain], pods);
			out_row("glb", row, cost.messages);
		}
		rig_down(&r);
	}
}
