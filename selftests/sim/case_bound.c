// SPDX-License-Identifier: GPL-2.0
/* "minmax" beside what linear programming says is possible. */
#include <math.h>
#include <stdlib.h>

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

/* The fullest link's seconds, by the shares alone; -1: a demand has none. */
static double counted(const struct rig *r, const struct srpol_placement *p)
{
	double *bytes = calloc(r->f->n_links, sizeof(*bytes)), most = 0;
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t d, i, k;

	for (d = 0; d < r->n; d++) {
		double sum = 0;

		if (srpol_path_set_init(r->f, r->demands[d].src,
					r->demands[d].dst, &set))
			die("no paths");
		for (i = p->first[d]; i < p->first[d + 1]; i++)
			sum += p->shares[i].weight;
		if (!sum)
			most = -1;
		for (i = p->first[d]; i < p->first[d + 1]; i++) {
			srpol_path_get(r->f, &set, p->shares[i].path, &route);
			for (k = 0; k < route.n; k++)
				bytes[route.link[k]] += r->demands[d].bytes *
					p->shares[i].weight / sum;
		}
		srpol_path_set_free(&set);
	}
	for (i = 0; i < r->f->n_links && most >= 0; i++)
		most = fmax(most, 8 * bytes[i] / r->links->links[i].capacity);
	free(bytes);
	return most;
}

/* The same with at most @parts paths for a flow, beside the optimum of all. */
static void place_flows(const struct rig *r, uint32_t parts, double lp,
			const char *name)
{
	struct srpol_alg_input in = rig_input(r);
	struct srpol_error err = {};
	struct srpol_placement *p;
	double start = seconds();
	char row[64];

	in.options.parts = parts;
	if (srpol_alg_run(&srpol_alg_minmax, &in, &p, &err))
		die(err.text);
	snprintf(row, sizeof(row), "%s-ms", name);
	out_row("300-links", row, 1000 * (seconds() - start));
	snprintf(row, sizeof(row), "%s-unplaced", name);
	out_row("300-links", row, p->prediction.unplaced);
	snprintf(row, sizeof(row), "%s/lp", name);
	out_row("300-links", row, counted(r, p) / lp);
	snprintf(row, sizeof(row), "%s-counted/predicted", name);
	out_row("300-links", row, counted(r, p) / p->prediction.seconds);
	srpol_placement_free(p);
}

/* 2000 flows of random sizes over 300 links between leaves and spines. */
static void links_300(void)
{
	uint32_t links[300], n, i;
	uint64_t seed = 300;
	struct rig r;
	double lp;

	rig_up(&r, srpol_shape_leaf_spine(20, 8, 15, RATE));
	n = rig_uplinks(&r, NULL);
	out_row("300-links", "links", n);
	if (n != ARRAY_SIZE(links))
		die("not 300 links");
	rig_uplinks(&r, links);
	for (i = 0; i < n; i++) {
		srpol_links_set_capacity(r.links, links[i], RATE /
					 (1 + rnd_below(&seed, 4)));
		srpol_links_set_capacity(r.links, links[i] ^ 1, RATE /
					 (1 + rnd_below(&seed, 4)));
	}
	/* paths are to be what matters, not NICs */
	for (i = 0; i < r.f->n_links; i++)
		if (r.f->nodes[r.f->links[i & ~1u].from].tier == SRPOL_TIER_HOST)
			srpol_links_set_capacity(r.links, i, 16 * RATE);
	while (r.n < 2000) {
		uint32_t src = rnd_below(&seed, r.f->n_gpus);
		uint32_t dst = rnd_below(&seed, r.f->n_gpus);

		if (r.f->nics[src].leaf != r.f->nics[dst].leaf)
			rig_send(&r, src, dst, MIB * (1 + rnd_below(&seed, 64)));
	}
	out_row("300-links", "flows", r.n);
	lp = lp_bound(&r);
	place_flows(&r, 0, lp, "split");
	place_flows(&r, 1, lp, "whole");
	out_row("300-links", "ecmp/lp", load_of(&r, SCHEME_ECMP1, 0) / lp);
	rig_down(&r);
}

void case_lp(bool check)
{
	against_lp();
	links_300();
	halved(8, "halved");
	dense(8);
	dense(16);
	if (!check)
		dense(32);
}
