// SPDX-License-Identifier: GPL-2.0
/*
 * The least time in which the hottest link can be done, by linear programming:
 *
 *	minimize T
 *	for every pair of GPUs or leaves: sum of bytes over its paths = bytes
 *	for every link: bytes on it <= T * capacity
 *
 * Demands that have all but their NICs in common are one commodity; loads of
 * NICs of GPUs with a single plane do not depend on paths, and bound T below.
 */
#include <glpk.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/**
 * struct lp - the program under construction
 * @prob: GLPK's
 * @row: by link, its row or 0
 * @time: column of T
 * @unit: bytes that count as 1
 * @least: bound of T by NICs, seconds
 */
struct lp {
	glp_prob *prob;
	int *row;
	int time;
	double unit;
	double least;
};

static uint64_t key_of(const struct rig *r, uint32_t d)
{
	const struct srpol_gpu *a = &r->f->gpus[r->demands[d].src];
	const struct srpol_gpu *b = &r->f->gpus[r->demands[d].dst];

	if (a->n == 1 && b->n == 1)
		return (uint64_t)r->f->nics[a->nic].leaf << 32 |
		       r->f->nics[b->nic].leaf;
	return (uint64_t)r->demands[d].src << 32 | r->demands[d].dst;
}

static int by_key(const void *a, const void *b, void *data)
{
	uint64_t x = key_of(data, *(const uint32_t *)a);
	uint64_t y = key_of(data, *(const uint32_t *)b);

	return x < y ? -1 : x > y;
}

/* Row of a link: bytes on it - T * capacity <= 0. */
static int link_row(struct lp *lp, const struct rig *r, uint32_t link)
{
	int ind[2];
	double val[2];

	if (lp->row[link])
		return lp->row[link];
	lp->row[link] = glp_add_rows(lp->prob, 1);
	glp_set_row_bnds(lp->prob, lp->row[link], GLP_UP, 0, 0);
	ind[1] = lp->time;
	val[1] = -(double)r->links->links[link].capacity / 8 / lp->unit;
	glp_set_mat_row(lp->prob, lp->row[link], 1, ind, val);
	return lp->row[link];
}

/* Columns of a commodity's paths. */
static void add_commodity(struct lp *lp, const struct rig *r, uint32_t d,
			  double bytes)
{
	int ind[SRPOL_PATH_LINKS + 2], row, col;
	double val[SRPOL_PATH_LINKS + 2];
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t i, l, n, skip;

	if (srpol_path_set_init(r->f, r->demands[d].src, r->demands[d].dst,
				&set))
		die("no memory");
	skip = set.pairs == 1;
	row = glp_add_rows(lp->prob, 1);
	glp_set_row_bnds(lp->prob, row, GLP_FX, bytes / lp->unit,
			 bytes / lp->unit);
	for (i = 0; i < set.n; i++) {
		srpol_path_get(r->f, &set, i, &route);
		if (!srpol_route_capacity(r->links, &route))
			continue;
		col = glp_add_cols(lp->prob, 1);
		glp_set_col_bnds(lp->prob, col, GLP_LO, 0, 0);
		ind[1] = row;
		val[1] = 1;
		for (l = skip, n = 1; l + skip < route.n; l++) {
			ind[++n] = link_row(lp, r, route.link[l]);
			val[n] = 1;
		}
		glp_set_mat_col(lp->prob, col, n, ind, val);
	}
	srpol_path_set_free(&set);
}

static void add_commodities(struct lp *lp, const struct rig *r)
{
	uint32_t *order = malloc((r->n + 1) * sizeof(*order)), i, j;
	const struct srpol_gpu *gpus = r->f->gpus;
	double bytes;

	if (!order)
		die("no memory");
	for (i = 0; i < r->n; i++)
		order[i] = i;
	qsort_r(order, r->n, sizeof(*order), by_key, (void *)r);
	for (i = 0; i < r->n; i = j) {
		bytes = 0;
		for (j = i; j < r->n && key_of(r, order[j]) ==
		     key_of(r, order[i]); j++)
			bytes += r->demands[order[j]].bytes;
		if (gpus[r->demands[order[i]].src].host !=
		    gpus[r->demands[order[i]].dst].host)
			add_commodity(lp, r, order[i], bytes);
	}
	free(order);
}

/**
 * lp_bound() - the least seconds, by GLPK
 * @r: scenario
 *
 * Return: seconds, at least those of the busiest NIC.
 */
double lp_bound(const struct rig *r)
{
	struct srpol_bound bound;
	struct lp lp = {};
	glp_smcp param;
	double t;

	rig_bound(r, &bound);
	lp.least = fmax(bound.sender, bound.receiver);
	lp.unit = lp.least * 1e9;
	glp_term_out(GLP_OFF);
	lp.prob = glp_create_prob();
	lp.row = calloc(r->f->n_links + 1, sizeof(*lp.row));
	if (!lp.row)
		die("no memory");
	glp_set_obj_dir(lp.prob, GLP_MIN);
	lp.time = glp_add_cols(lp.prob, 1);
	glp_set_obj_coef(lp.prob, lp.time, 1);
	glp_set_col_bnds(lp.prob, lp.time, GLP_LO, lp.least, 0);
	add_commodities(&lp, r);
	glp_init_smcp(&param);
	param.presolve = GLP_ON;
	if (glp_simplex(lp.prob, &param) ||
	    glp_get_status(lp.prob) != GLP_OPT)
		die("GLPK found no optimum");
	t = glp_get_obj_val(lp.prob);
	glp_delete_prob(lp.prob);
	free(lp.row);
	return t;
}
