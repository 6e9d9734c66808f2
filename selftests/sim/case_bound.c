// SPDX-License-Identifier: GPL-2.0
/* "minmax" beside what linear programming says is possible. */
#include <math.h>

#include "sim.h"

#define RATE	(400 * GBPS)

static double load_of(const struct rig *r, enum scheme s, uint64_t seed)
{
	struct srpol_placement *p = scheme_place(r, s, seed);
	double t = p->prediction.unplaced ? INFINITY : p->prediction.seconds;

	srpol_placement_free(p);
	return t;
}

/* Sizes, capacities and pairs at random; 3 paths per pair at the least. */
static void random_instance(struct rig *r, uint64_t seed)
{
	uint32_t i, n, kind = rnd_below(&seed, 3);

	if (kind == 2)
		rig_up(r, srpol_shape_clos(2 + rnd_below(&seed, 2),
					   1 + rnd_below(&seed, 3),
					   1 + rnd_below(&seed, 4),
					   1 + rnd_below(&seed, 3),
					   3 + rnd_below(&seed, 2), RATE));
	else
		rig_up(r, srpol_shape_leaf_spine(2 + rnd_below(&seed, 6),
						 1 + rnd_below(&seed, 6),
						 3 + rnd_below(&seed, 5),
						 RATE));
	n = 5 + rnd_below(&seed, 100);
	for (i = 0; i < n; i++) {
		uint32_t src = rnd_below(&seed, r->f->n_gpus);
		uint32_t dst = rnd_below(&seed, r->f->n_gpus);

		if (r->f->nics[src].leaf != r->f->nics[dst].leaf)
			rig_send(r, src, dst, MIB * (1 + rnd_below(&seed, 64)));
	}
	for (i = 0; i < r->f->n_links; i++) {
		/* NICs are fast: paths are to be what matters */
		if (r->f->nodes[r->f->links[i & ~1u].from].tier ==
		    SRPOL_TIER_HOST)
			srpol_links_set_capacity(r->links, i, 16 * RATE);
		else
			srpol_links_set_capacity(r->links, i, RATE /
						 (1 + rnd_below(&seed, 4)));
	}
}

static void against_lp(void)
{
	double lp, got, worst = 0, hash, v[200];
	uint32_t seed, s, better = 0, n = 0;
	struct rig r;

	for (seed = 0; n < 200; seed++) {
		random_instance(&r, seed);
		if (!r.n) {
			rig_down(&r);
			continue;
		}
		lp = lp_bound(&r);
		got = load_of(&r, SCHEME_MINMAX, 0);
		for (s = 0, hash = INFINITY; s < SEEDS; s++)
			hash = fmin(hash, load_of(&r, SCHEME_ECMP1, s));
		better += hash < got * (1 - 1e-9);
		v[n++] = got / lp;
		worst = fmax(worst, got / lp);
		rig_down(&r);
	}
	out_stat("lp", "minmax/lp", v, n, 1);
	out_row("lp", "worst", worst);
	out_row("lp", "ecmp-better", better);
}

/* Everyone to the next leaf; a link at half rate. */
static void halved(uint32_t leaves, const char *name)
{
	double nic = 8.0 * 64 * MIB / RATE, lp, got;
	struct srpol_placement *p;
	struct rig r;
	uint32_t i;

	rig_up(&r, srpol_shape_leaf_spine(leaves, 16, 16, RATE));
	for (i = 0; i < r.f->n_gpus; i++)
		rig_send(&r, i, (i + 16) % r.f->n_gpus, 64 * MIB);
	srpol_links_set_capacity(r.links, srpol_node_up(r.f, r.f->nics[0].leaf,
							3), RATE / 2);
	lp = lp_bound(&r) / nic;
	got = load_of(&r, SCHEME_MINMAX, 0) / nic;
	p = scheme_place(&r, SCHEME_MINMAX, 0);
	out_row(name, "lp", lp);
	out_row(name, "cut", rig_bound(&r, NULL) / nic);
	out_row(name, "minmax", got);
	out_row(name, "minmax/lp", got / lp);
	out_row(name, "split", p->prediction.split);
	srpol_placement_free(p);
	rig_down(&r);
}

/* All pairs of leaves, links between them at random rates. */
static void dense(uint32_t leaves)
{
	uint32_t ranks[512], links[1024], n, i;
	uint64_t seed = leaves;
	double lp, got, start;
	struct rig r;
	char row[32];

	rig_up(&r, srpol_shape_leaf_spine(leaves, 8, leaves, RATE / 4));
	ranks_in_order(ranks, r.f->n_gpus);
	work_all_to_all(&r, ranks, r.f->n_gpus, 64 * MIB);
	n = rig_uplinks(&r, links);
	for (i = 0; i < n; i++)
		srpol_links_set_capacity(r.links, links[i] | rnd_below(&seed, 2),
					 RATE / 4 / (1 + rnd_below(&seed, 3)));
	start = seconds();
	lp = lp_bound(&r);
	snprintf(row, sizeof(row), "lp-seconds-%u", leaves);
	out_row("dense", row, seconds() - start);
	got = load_of(&r, SCHEME_MINMAX, 0);
	snprintf(row, sizeof(row), "minmax/lp-%u", leaves);
	out_row("dense", row, got / lp);
	snprintf(row, sizeof(row), "cut/lp-%u", leaves);
	out_row("dense", row, rig_bound(&r, NULL) / lp);
	rig_down(&r);
}

void case_lp(bool check)
{
	against_lp();
	halved(8, "halved");
	dense(8);
	dense(16);
	if (!check)
		dense(32);
}
