// SPDX-License-Identifier: LGPL-2.1
/*
 * When placed demands end, if the transport shares links fairly: admission and
 * what-if ask this.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "alg.h"

/**
 * struct fluid - placed demands as a fluid network
 * @net: network
 * @first: see struct srpol_maxmin
 * @link: likewise
 * @part: likewise
 * @capacity: likewise
 * @left: bytes per flow
 * @start: seconds per flow
 * @finish: seconds per flow
 * @demand: by flow
 * @flows: number of them so far
 * @uses: number of them so far
 */
struct fluid {
	struct srpol_maxmin net;
	uint32_t *first;
	uint32_t *link;
	double *part;
	double *capacity;
	double *left;
	double *start;
	double *finish;
	uint32_t *demand;
	uint32_t flows;
	uint32_t uses;
};

static void fluid_free(struct fluid *m)
{
	free(m->first);
	free(m->link);
	free(m->part);
	free(m->capacity);
	free(m->left);
	free(m->start);
	free(m->finish);
	free(m->demand);
}

static int fluid_init(struct fluid *m, const struct srpol_alg_input *in,
		      const struct srpol_placement *p)
{
	size_t shares = p->first[p->n], links = in->fabric->n_links, i;

	*m = (struct fluid){};
	m->first = malloc((shares + 2) * sizeof(*m->first));
	m->link = malloc((shares * SRPOL_PATH_LINKS + 1) * sizeof(*m->link));
	m->part = malloc((shares * SRPOL_PATH_LINKS + 1) * sizeof(*m->part));
	m->capacity = malloc((links + 1) * sizeof(*m->capacity));
	m->left = malloc((shares + 1) * sizeof(*m->left));
	m->start = malloc((shares + 1) * sizeof(*m->start));
	m->finish = malloc((shares + 1) * sizeof(*m->finish));
	m->demand = malloc((shares + 1) * sizeof(*m->demand));
	if (!m->first || !m->link || !m->part || !m->capacity || !m->left ||
	    !m->start || !m->finish || !m->demand)
		return -ENOMEM;
	m->first[0] = 0;
	for (i = 0; i < links; i++)
		m->capacity[i] = in->links->links[i].capacity / 8.0;
	return 0;
}

/* A use of a link by the flow that is being added; links once per flow. */
static void add_use(struct fluid *m, uint32_t link, double part)
{
	uint32_t i;

	for (i = m->first[m->flows]; i < m->uses; i++) {
		if (m->link[i] == link) {
			m->part[i] += part;
			return;
		}
	}
	m->link[m->uses] = link;
	m->part[m->uses++] = part;
}

static void end_flow(struct fluid *m, uint32_t demand, double bytes,
		     double start)
{
	m->left[m->flows] = bytes;
	m->start[m->flows] = start;
	m->demand[m->flows] = demand;
	m->first[++m->flows] = m->uses;
}

static int add_demand(struct fluid *m, const struct srpol_alg_input *in,
		      const struct srpol_placement *p, uint32_t d, bool coupled,
		      double start)
{
	double sum = 0, bytes = in->demands[d].bytes;
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t i, l;
	int rc;

	rc = srpol_path_set_init(in->fabric, in->demands[d].src,
				 in->demands[d].dst, &set);
	if (rc)
		return rc;
	for (i = p->first[d]; i < p->first[d + 1]; i++)
		sum += p->shares[i].weight;
	for (i = p->first[d]; i < p->first[d + 1]; i++) {
		srpol_path_get(in->fabric, &set, p->shares[i].path, &route);
		for (l = 0; l < route.n; l++)
			add_use(m, route.link[l], coupled ?
				p->shares[i].weight / sum : 1);
		if (!coupled)
			end_flow(m, d, bytes * p->shares[i].weight / sum,
				 start);
	}
	if (coupled && p->first[d] < p->first[d + 1])
		end_flow(m, d, bytes, start);
	srpol_path_set_free(&set);
	return 0;
}

/**
 * srpol_predict() - when placed demands end
 * @in: what they were placed from
 * @p: placement
 * @coupled: a demand's shares are packets of one flow (spraying), so that the
 *	slowest path limits all; else each share is a flow of its own
 * @start: seconds at which each demand starts, NULL: 0
 * @finish: result: seconds at which each demand ends: INFINITY if a path of
 *	its is down or it has none, its start if it does not enter the fabric
 *
 * See srpol_maxmin_run() for the time this takes.
 *
 * Return: 0, -ENOMEM.
 */
int srpol_predict(const struct srpol_alg_input *in,
		  const struct srpol_placement *p, bool coupled,
		  const double *start, double *finish)
{
	struct srpol_maxmin_run run = { .until = INFINITY };
	const struct srpol_gpu *gpus = in->fabric->gpus;
	struct fluid m;
	uint32_t d, f;
	int rc;

	rc = fluid_init(&m, in, p);
	for (d = 0; d < in->n && !rc; d++) {
		finish[d] = start ? start[d] : 0;
		if (p->first[d] == p->first[d + 1] &&
		    gpus[in->demands[d].src].host !=
		    gpus[in->demands[d].dst].host)
			finish[d] = INFINITY;
		rc = add_demand(&m, in, p, d, coupled, start ? start[d] : 0);
	}
	if (rc)
		goto out;
	m.net = (struct srpol_maxmin){
		.n_links = in->fabric->n_links, .capacity = m.capacity,
		.n_flows = m.flows, .first = m.first, .link = m.link,
		.part = m.part,
	};
	run.left = m.left;
	run.start = m.start;
	run.finish = m.finish;
	rc = srpol_maxmin_run(&m.net, &run);
	for (f = 0; f < m.flows && !rc; f++)
		if (m.finish[f] > finish[m.demand[f]])
			finish[m.demand[f]] = m.finish[f];
out:
	fluid_free(&m);
	return rc;
}
