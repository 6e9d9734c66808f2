// SPDX-License-Identifier: LGPL-2.1
/*
 * Predicts when placed demands end if the transport shares links fairly.
 * Admission control and what-if questions use this.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "alg.h"

/**
 * srpol_fluid_free() - free a network with fluid flows
 * @m: may be NULL
 */
void srpol_fluid_free(struct srpol_fluid *m)
{
	if (!m)
		return;
	free(m->first);
	free(m->link);
	free(m->part);
	free(m->net.capacity);
	free(m->left);
	free(m->start);
	free(m->finish);
	free(m->demand);
	free(m);
}

/*
 * Appends a link for each function, with the rate of the function as capacity.
 */
static void add_functions(struct srpol_fluid *m, const struct srpol_fabric *f)
{
	uint32_t i;

	for (i = 0; i < f->n_functions; i++)
		m->net.capacity[f->n_links + i] = f->functions[i].rate / 8.0;
	m->net.n_links = f->n_links + f->n_functions;
}

static struct srpol_fluid *fluid_room(const struct srpol_alg_input *in,
				      const struct srpol_placement *p)
{
	size_t shares = p->first[p->n], links = in->fabric->n_links, i;
	size_t uses = shares * (SRPOL_PATH_LINKS + 1) + 1;
	struct srpol_fluid *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->first = calloc(shares + 2, sizeof(*m->first));
	m->link = malloc(uses * sizeof(*m->link));
	m->part = malloc(uses * sizeof(*m->part));
	m->net.capacity = malloc((links + in->fabric->n_functions + 1) *
				 sizeof(*m->net.capacity));
	m->left = malloc((shares + 1) * sizeof(*m->left));
	m->start = malloc((shares + 1) * sizeof(*m->start));
	m->finish = malloc((shares + 1) * sizeof(*m->finish));
	m->demand = malloc((shares + 1) * sizeof(*m->demand));
	if (!m->first || !m->link || !m->part || !m->net.capacity ||
	    !m->left || !m->start || !m->finish || !m->demand) {
		srpol_fluid_free(m);
		return NULL;
	}
	for (i = 0; i < links; i++)
		m->net.capacity[i] = in->links->links[i].capacity / 8.0;
	add_functions(m, in->fabric);
	return m;
}

/*
 * Adds a use of a link by the present flow; uses of the same link are merged.
 */
static void add_use(struct srpol_fluid *m, uint32_t link, double part)
{
	uint32_t *end = &m->first[m->net.n_flows + 1], i;

	for (i = m->first[m->net.n_flows]; i < *end; i++) {
		if (m->link[i] == link) {
			m->part[i] += part;
			return;
		}
	}
	m->link[*end] = link;
	m->part[(*end)++] = part;
}

static void end_flow(struct srpol_fluid *m, uint32_t demand, double bytes,
		     double start)
{
	uint32_t f = m->net.n_flows++;

	m->left[f] = bytes;
	m->start[f] = start;
	m->demand[f] = demand;
	/* the next flow starts here and has no uses yet */
	m->first[f + 2] = m->first[f + 1];
}

/*
 * Adds the links of a path, according to the model of functions: behind an
 * aggregation or compression there are fewer bytes; before a multicast there
 * are fewer bytes, because one packet there serves several demands.
 */
static void add_route(struct srpol_fluid *m, const struct srpol_fabric *f,
		      const struct srpol_route *route, uint32_t via, double part)
{
	uint32_t at = via ? srpol_route_function(f, route, via) : SRPOL_NONE, l;
	const struct srpol_function *fn = at == SRPOL_NONE ? NULL :
					  &f->functions[at];
	bool multicast = fn && fn->kind == SRPOL_FUNCTION_MULTICAST;
	double before = multicast ? part * fn->ratio : part;
	double behind = fn && !multicast ? part * fn->ratio : part;
	bool passed = !fn;

	for (l = 0; l < route->n; l++) {
		passed |= fn && f->links[route->link[l]].from == fn->node;
		add_use(m, route->link[l], passed ? behind : before);
	}
	if (fn && fn->rate)
		add_use(m, f->n_links + at, before);
}

static int add_demand(struct srpol_fluid *m, const struct srpol_alg_input *in,
		      const struct srpol_placement *p, uint32_t d, bool coupled,
		      double start)
{
	double sum = 0, bytes = in->demands[d].bytes;
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t i;
	int rc;

	rc = srpol_path_set_init(in->fabric, in->demands[d].src,
				 in->demands[d].dst, &set);
	if (rc)
		return rc;
	for (i = p->first[d]; i < p->first[d + 1]; i++)
		sum += p->shares[i].weight;
	for (i = p->first[d]; i < p->first[d + 1]; i++) {
		srpol_path_get(in->fabric, &set, p->shares[i].path, &route);
		add_route(m, in->fabric, &route, in->demands[d].via,
			  coupled ? p->shares[i].weight / sum : 1);
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
 * srpol_fluid_new() - model placed demands as a network with fluid flows
 * @in: demands that were placed, with fabric and links
 * @p: the placement
 * @coupled: the shares of a demand carry packets of one flow (spraying), so
 *	that the slowest path limits all of them; otherwise each share is a flow
 *	of its own
 * @start: by demand: seconds at which it starts; NULL: 0 for all
 *
 * The effect of functions on a demand's bytes is included as the topology
 * describes it. It is only a model, since no switch is asked. A function's rate
 * is the capacity of a link with a number above those of the fabric's links.
 *
 * Return: the network, to be freed; NULL without memory or for a GPU that does
 * not exist.
 */
struct srpol_fluid *srpol_fluid_new(const struct srpol_alg_input *in,
				    const struct srpol_placement *p,
				    bool coupled, const double *start)
{
	struct srpol_fluid *m = fluid_room(in, p);
	uint32_t d;
	int rc = 0;

	if (!m)
		return NULL;
	for (d = 0; d < in->n && !rc; d++)
		rc = add_demand(m, in, p, d, coupled, start ? start[d] : 0);
	if (rc) {
		srpol_fluid_free(m);
		return NULL;
	}
	m->net.first = m->first;
	m->net.link = m->link;
	m->net.part = m->part;
	return m;
}

/**
 * srpol_predict() - predict when placed demands end
 * @in: demands that were placed, with fabric and links
 * @p: the placement
 * @coupled: see srpol_fluid_new()
 * @start: by demand: seconds at which it starts; NULL: 0 for all
 * @finish: result, by demand: seconds at which it ends; INFINITY if one of its
 *	paths is down or it has none; its start if both GPUs are in one host
 *
 * srpol_maxmin_run() documents the running time.
 *
 * Return: 0, -ENOMEM.
 */
int srpol_predict(const struct srpol_alg_input *in,
		  const struct srpol_placement *p, bool coupled,
		  const double *start, double *finish)
{
	struct srpol_fluid *m = srpol_fluid_new(in, p, coupled, start);
	const struct srpol_gpu *gpus = in->fabric->gpus;
	struct srpol_maxmin_run run = { .until = INFINITY };
	uint32_t d, f;
	int rc;

	if (!m)
		return -ENOMEM;
	for (d = 0; d < in->n; d++) {
		finish[d] = start ? start[d] : 0;
		if (p->first[d] == p->first[d + 1] &&
		    gpus[in->demands[d].src].host !=
		    gpus[in->demands[d].dst].host)
			finish[d] = INFINITY;
	}
	run.left = m->left;
	run.start = m->start;
	run.finish = m->finish;
	rc = srpol_maxmin_run(&m->net, &run);
	for (f = 0; f < m->net.n_flows && !rc; f++)
		if (m->finish[f] > finish[m->demand[f]])
			finish[m->demand[f]] = m->finish[f];
	srpol_fluid_free(m);
	return rc;
}
