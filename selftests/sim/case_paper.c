// SPDX-License-Identifier: GPL-2.0
/* The position paper's figures, rings, permutations, planes, jobs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define RATE	(400 * GBPS)

static struct srpol_shape paper_fabric(void)
{
	return srpol_shape_leaf_spine(8, 16, 16, RATE);
}

static uint32_t paper_link(const struct rig *r)
{
	return srpol_fabric_link(r->f, srpol_fabric_node(r->f, "leaf0.0.0.0"),
				 srpol_fabric_node(r->f, "spine0.0.8"));
}

static void all_to_all(struct rig *r)
{
	uint32_t ranks[128];

	ranks_in_order(ranks, 128);
	work_all_to_all(r, ranks, 128, 64 * MIB);
}

/* One scheme over the seeds, in units of the bound. */
static double over_seeds(const struct rig *r, const char *name,
			 const char *row, enum scheme s, uint32_t seeds)
{
	double v[SEEDS], bound = rig_bound(r, NULL), sum = 0;
	uint32_t n = scheme_is_random(s) ? seeds : 1, i;

	for (i = 0; i < n; i++) {
		v[i] = scheme_time(r, s, i) / bound;
		sum += v[i];
	}
	out_stat(name, row, v, n, bound);
	return sum / n;
}

void case_fig1(bool check)
{
	uint32_t seeds = check ? 4 : SEEDS;
	double spray, placed;
	struct rig r;

	rig_up(&r, paper_fabric());
	all_to_all(&r);
	spray = over_seeds(&r, "fig1b", "spray/bound", SCHEME_SPRAY,
			   seeds);
	placed = over_seeds(&r, "fig1b", "minmax/bound", SCHEME_MINMAX,
			    seeds);
	out_row("fig1b", "minmax/spray", placed / spray);
	over_seeds(&r, "fig1b", "ethereal/bound", SCHEME_ETHEREAL,
		   seeds);
	over_seeds(&r, "fig1b", "ecmp1/bound", SCHEME_ECMP1,
		   seeds);
	if (!check)
		over_seeds(&r, "fig1b", "ecmp4/bound", SCHEME_ECMP4, seeds);
	rig_set_both(&r, paper_link(&r), RATE / 2);
	spray = over_seeds(&r, "fig1c", "spray/bound", SCHEME_SPRAY,
			   seeds);
	placed = over_seeds(&r, "fig1c", "minmax/bound", SCHEME_MINMAX,
			    seeds);
	out_row("fig1c", "gain", 100 * (1 - placed / spray));
	if (!check)
		over_seeds(&r, "fig1c", "ecmp1/bound", SCHEME_ECMP1, seeds);
	over_seeds(&r, "fig1c", "ethereal/bound", SCHEME_ETHEREAL,
		   seeds);
	over_seeds(&r, "fig1c", "wecmp/bound", SCHEME_WECMP,
		   seeds);
	rig_down(&r);
}

/* The chance that k random probes cover n paths (inclusion, exclusion). */
static double covered(uint32_t n, uint32_t k, double *p)
{
	uint32_t i, j;

	/* p[i]: i paths are covered so far */
	memset(p, 0, (n + 1) * sizeof(*p));
	p[0] = 1;
	for (i = 0; i < k; i++) {
		for (j = n; j; j--)
			p[j] = p[j] * j / n + p[j - 1] * (n - j + 1) / n;
		p[0] = 0;
	}
	return p[n];
}

/* Loop probes of one host that cover all paths to a host on another leaf. */
static uint32_t loops(uint32_t spines)
{
	struct srpol_sid_list list, seen[128];
	struct srpol_route out, back;
	struct srpol_path_set set;
	struct srpol_error err;
	uint32_t i, j, n = 0;
	struct rig r;

	rig_up(&r, srpol_shape_leaf_spine(2, 1, spines, RATE));
	if (srpol_path_set_init(r.f, 0, 1, &set))
		die("no memory");
	for (i = 0; i < set.n; i++) {
		srpol_path_get(r.f, &set, i, &out);
		srpol_route_reverse(&out, &back);
		if (srpol_sids_of_loop(r.f, &out, &back, false, SRPOL_SID_FULL,
				       &list, &err))
			die(err.text);
		for (j = 0; j < n; j++)
			if (!memcmp(seen[j].sid, list.sid,
				    list.n * sizeof(*list.sid)))
				die("two probes take one path");
		seen[n++] = list;
	}
	srpol_path_set_free(&set);
	rig_down(&r);
	return n;
}

void case_fig2(void)
{
	static const uint32_t paths[] = { 4, 8, 16, 32, 64, 128 };
	static const double chances[] = { 0.5, 0.9, 0.99 };
	char row[32];
	double p[129];
	uint32_t i, c, k;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		for (c = 0; c < ARRAY_SIZE(chances); c++) {
			for (k = paths[i]; covered(paths[i], k, p) <
			     chances[c]; k++)
				;
			snprintf(row, sizeof(row), chances[c] == 0.9 ?
				 "probes%u" : "probes%u-%g", paths[i],
				 chances[c]);
			out_row("fig2a", row, k);
		}
		snprintf(row, sizeof(row), "loops%u", paths[i]);
		out_row("fig2a", row, loops(paths[i]));
	}
}

static void ring_of(struct rig *r, const char *name, const uint32_t *ranks)
{
	static const enum scheme schemes[] = {
		SCHEME_ECMP1, SCHEME_ECMP4, SCHEME_ECMP16, SCHEME_FLOWLET,
		SCHEME_SPRAY, SCHEME_ETHEREAL, SCHEME_MINMAX,
	};
	uint32_t i;

	r->n = 0;
	work_ring(r, ranks, 128, 64 * MIB);
	for (i = 0; i < ARRAY_SIZE(schemes); i++)
		over_seeds(r, name, scheme_name[schemes[i]], schemes[i],
			   SEEDS);
}

void case_ring(void)
{
	uint32_t ranks[128];
	uint64_t seed = 1;
	struct rig r;

	rig_up(&r, paper_fabric());
	ranks_by_leaf(&r, ranks, 8);
	ring_of(&r, "ring", ranks);
	/* as a scheduler that knows nothing would do it, and as a good one */
	rnd_shuffle(&seed, ranks, 128);
	ring_of(&r, "ring-shuffled", ranks);
	ranks_in_order(ranks, 128);
	ring_of(&r, "ring-packed", ranks);
	rig_down(&r);
}

void case_permutation(bool check)
{
	static const uint32_t sizes[][3] = {
		{ 8, 16, 16 }, { 32, 32, 32 }, { 160, 64, 64 },
	};
	double v[SEEDS], bound, e[SEEDS];
	struct rig r;
	uint32_t i, k;
	char row[32];

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		rig_up(&r, srpol_shape_leaf_spine(sizes[i][0], sizes[i][1],
						  sizes[i][2], RATE));
		for (k = 0; k < (check ? 3 : SEEDS); k++) {
			r.n = 0;
			work_permutation(&r, k, 64 * MIB);
			bound = rig_bound(&r, NULL);
			v[k] = scheme_time(&r, SCHEME_MINMAX, 0) / bound;
			e[k] = scheme_time(&r, SCHEME_ECMP1, k) / bound;
		}
		snprintf(row, sizeof(row), "%u", r.f->n_gpus);
		out_stat("permutation", row, v, k, bound);
		snprintf(row, sizeof(row), "%u-ecmp1", r.f->n_gpus);
		out_stat("permutation", row, e, k, bound);
		rig_down(&r);
	}
}

void case_planes(void)
{
	double whole, t;
	uint32_t i;
	struct rig r;

	rig_up(&r, srpol_shape_plane(4, 64, RATE));
	for (i = 0; i < 64; i++)
		rig_send(&r, i, (i + 1) % 64, 256 * MIB);
	whole = rig_bound(&r, NULL);
	for (i = 0; i < r.f->n_nics; i++)
		if (r.f->nics[i].plane == 3)
			srpol_links_set_cables(r.f, r.links,
					       r.f->nics[i].link, 1);
	t = scheme_time(&r, SCHEME_SPRAY, 0) / whole;
	out_stat("planes", "spray", &t, 1, rig_bound(&r, NULL) / whole);
	t = scheme_time(&r, SCHEME_WECMP, 0) / whole;
	out_stat("planes", "wecmp", &t, 1, rig_bound(&r, NULL) / whole);
	t = scheme_time(&r, SCHEME_MINMAX, 0) / whole;
	out_stat("planes", "minmax", &t, 1, rig_bound(&r, NULL) / whole);
	rig_down(&r);
}

/* Mean over jobs of the time at which a job's last demand ends. */
static double jobs_time(const struct rig *r, enum scheme s, uint64_t seed,
			const uint32_t *job, const double *start)
{
	struct srpol_alg_input in = rig_input(r);
	struct srpol_placement *p = scheme_place(r, s, seed);
	double *finish = malloc(r->n * sizeof(*finish)), last[4] = {};
	uint32_t i;

	if (!finish || srpol_predict(&in, p, scheme_is_coupled(s), start,
				     finish))
		die("no memory");
	for (i = 0; i < r->n; i++)
		last[job[i]] = fmax(last[job[i]], finish[i] - start[i]);
	free(finish);
	srpol_placement_free(p);
	return (last[0] + last[1] + last[2] + last[3]) / 4;
}

/* 4 jobs of 128 ranks, ring all-reduce, scattered over 32 leaves. */
static void jobs_of(struct rig *r, uint64_t seed, bool skewed,
		    uint32_t *job, double *start)
{
	uint32_t ranks[512], i, j;
	double one;

	r->n = 0;
	ranks_in_order(ranks, 512);
	rnd_shuffle(&seed, ranks, 512);
	for (j = 0; j < 4; j++) {
		work_ring(r, ranks + 128 * j, 128, 64 * MIB);
		one = 8.0 * r->demands[r->n - 1].bytes / RATE;
		for (i = 128 * j; i < 128 * (j + 1); i++) {
			job[i] = j;
			start[i] = skewed ? one * j / 4 : 0;
		}
	}
}

void case_jobs(bool check)
{
	static const enum scheme schemes[] = {
		SCHEME_ECMP1, SCHEME_ECMP4, SCHEME_ECMP16, SCHEME_SPRAY,
		SCHEME_ETHEREAL, SCHEME_MINMAX,
	};
	double v[SEEDS], start[512], bound = 0, mean[SCHEMES] = {};
	uint32_t job[512], i, k, skewed;
	struct rig r;
	char row[32];

	rig_up(&r, srpol_shape_leaf_spine(32, 16, 16, RATE));
	for (skewed = 0; skewed < (check ? 1 : 2); skewed++) {
		memset(mean, 0, sizeof(mean));
		for (i = 0; i < ARRAY_SIZE(schemes); i++) {
			if (check && schemes[i] == SCHEME_ECMP16)
				continue;
			for (k = 0; k < SEEDS; k++) {
				jobs_of(&r, k, skewed, job, start);
				bound = rig_bound(&r, NULL);
				v[k] = jobs_time(&r, schemes[i], k, job, start)
				       / bound;
				mean[schemes[i]] += v[k] / SEEDS;
			}
			snprintf(row, sizeof(row), "%s%s",
				 scheme_name[schemes[i]],
				 skewed ? "-shifted" : "");
			out_stat("jobs", row, v, SEEDS, bound);
		}
		out_row("jobs", skewed ? "gain-shifted" : "gain",
			100 * (1 - mean[SCHEME_MINMAX] / mean[SCHEME_ECMP4]));
	}
	rig_down(&r);
}
