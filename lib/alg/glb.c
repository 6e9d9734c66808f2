// SPDX-License-Identifier: LGPL-2.1
/*
 * Global load balancing: a leaf knows the quality of its own links, and learns
 * from its next hops that of the links behind them (to next-next hops). It
 * combines both to the quality of a path. Weights are in proportion to quality.
 */
#include <errno.h>
#include <stdlib.h>

#include "alg.h"

static uint32_t quality(const struct srpol_alg_input *in, uint32_t link)
{
	return in->links->links[link].capacity ? in->links->links[link].quality
					       : 0;
}

/*
 * Whether a link was announced; links that were not count as having the best
 * quality.
 */
static bool is_known(const struct srpol_alg_input *in, uint32_t link)
{
	const struct srpol_link *l = &in->fabric->links[link];

	return !in->options.nnhn ||
	       srpol_nnhn_has(in->options.nnhn, l->from, l->to);
}

/*
 * Quality of a path without its NIC links; SRPOL_QUALITY_BEST under one leaf.
 */
static uint32_t path_quality(const struct srpol_alg_input *in,
			     const struct srpol_route *route)
{
	enum srpol_profile profile = in->options.profile;
	uint32_t i, q, least = SRPOL_QUALITY_BEST, lack = 0;

	for (i = 1; i + 1 < route->n; i++) {
		if (i > 1 && (profile == SRPOL_PROFILE_SIMPLE ||
			      !is_known(in, route->link[i])))
			continue;
		q = quality(in, route->link[i]);
		if (q < least)
			least = q;
		lack += SRPOL_QUALITY_BEST - q;
	}
	if (profile != SRPOL_PROFILE_SUM || !least)
		return least;
	return lack < SRPOL_QUALITY_BEST ? SRPOL_QUALITY_BEST - lack : 1;
}

/*
 * Gives all paths with the same NIC and next hop the quality of the worst of
 * them.
 */
static void level_next_hops(const struct srpol_alg_input *in,
			    const struct srpol_path_set *set, uint32_t *q)
{
	struct srpol_route a, b;
	uint32_t i, j, least;

	for (i = 0; i < set->n; i = j) {
		srpol_path_get(in->fabric, set, i, &a);
		least = q[i];
		for (j = i + 1; j < set->n; j++) {
			srpol_path_get(in->fabric, set, j, &b);
			if (b.link[0] != a.link[0] || b.link[1] != a.link[1])
				break;
			if (q[j] < least)
				least = q[j];
		}
		while (i < j)
			q[i++] = least;
	}
}

static int place(const struct srpol_alg_input *in, uint32_t d,
		 const struct srpol_path_set *set, struct srpol_placement *out)
{
	struct srpol_route route;
	uint32_t *q, i;
	int rc = 0;

	q = calloc(set->n + 1UL, sizeof(*q));
	if (!q)
		return -ENOMEM;
	for (i = 0; i < set->n; i++) {
		srpol_path_get(in->fabric, set, i, &route);
		q[i] = path_quality(in, &route);
		/* a NIC that is down excludes the path in any profile */
		if (!in->links->links[route.link[0]].capacity ||
		    !in->links->links[route.link[route.n - 1]].capacity)
			q[i] = 0;
	}
	if (in->options.profile == SRPOL_PROFILE_WORST)
		level_next_hops(in, set, q);
	for (i = 0; i < set->n && !rc; i++) {
		srpol_path_get(in->fabric, set, i, &route);
		if (q[i] && srpol_demand_may(in, d, &route))
			rc = srpol_placement_add(out, d, i, q[i]);
	}
	free(q);
	return rc;
}

const struct srpol_alg srpol_alg_glb = {
	.name = "glb",
	.source = "global load balancing; draft-ietf-idr-next-next-hop-nodes",
	.complexity = "O(n p)",
	.coupled = true,
	.place = place,
};

/**
 * srpol_glb_cost() - cost of global load balancing in a domain
 * @f: finished fabric
 * @domain: how far switches announce the quality of their links
 * @cost: result
 *
 * A leaf has an entry for each of its uplinks and for each link behind each
 * next hop; with SRPOL_GLB_ALL also for each link behind these. A switch
 * announces a change of its own links to the switches below it, and forwards
 * announcements if the domain extends further. O(links^1.5) at most.
 */
void srpol_glb_cost(const struct srpol_fabric *f,
		    enum srpol_glb_domain domain, struct srpol_glb_cost *cost)
{
	const struct srpol_node *p, *q;
	uint32_t i, j, k, up, top;
	uint64_t n, messages;

	*cost = (struct srpol_glb_cost){};
	for (i = 0; i < f->n_nodes; i++) {
		p = &f->nodes[i];
		if (p->tier != (domain == SRPOL_GLB_SPINE ? SRPOL_TIER_SPINE :
							    SRPOL_TIER_LEAF))
			continue;
		n = p->up_n;
		for (j = 0; j < p->up_n; j++) {
			up = f->links[srpol_node_up(f, i, j)].to;
			q = &f->nodes[up];
			n += q->down_n;
			/*
			 * @up announces a change of a downlink to all nodes
			 * below it
			 */
			messages = q->down_n;
			for (k = 0; domain == SRPOL_GLB_ALL && k < q->up_n;
			     k++) {
				top = f->links[srpol_node_up(f, up, k)].to;
				n += 1 + f->nodes[top].down_n;
				/*
				 * @top announces to its spines, and each of
				 * these to its leaves
				 */
				messages = f->nodes[top].down_n *
					   (1ull + q->down_n);
				if (messages > cost->messages)
					cost->messages = messages;
			}
			if (messages > cost->messages)
				cost->messages = messages;
		}
		cost->total += n;
		if (n > cost->entries)
			cost->entries = n;
	}
}
