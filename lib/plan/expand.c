// SPDX-License-Identifier: LGPL-2.1
/*
 * Path weights from a host's GPU to a GPU of another host. Where the plan
 * assigns paths to flows, the weight of a path is the number of flows that take
 * it. Else the weights within a plane are those of the plan, and planes share
 * traffic in proportion to the rates of the NICs on them.
 */
#include <errno.h>
#include <string.h>

#include "plan.h"

#define WEIGHT_SUM	65535	/* greatest weight of a segment list */

static bool is_down(const struct srpol_fabric *f,
		    const struct srpol_links *links,
		    const struct srpol_fan *fan, uint32_t i)
{
	uint32_t link[4], n = srpol_fan_links(f, fan, i, link), j;

	for (j = 0; j < n; j++)
		if (!links->links[link[j]].capacity)
			return true;
	return false;
}

/*
 * Weight of a path: 0 if it is down, 1 if the plan has no weights for the pair.
 */
static uint32_t planned(const struct srpol_fabric *f,
			const struct srpol_links *links,
			const struct srpol_fan *fan, const uint8_t *weights,
			uint32_t i)
{
	if (is_down(f, links, fan, i))
		return 0;
	return weights ? weights[i] : 1;
}

static int weigh_set(const struct srpol_fabric *f,
		     const struct srpol_links *links,
		     const struct srpol_plan *plan,
		     const struct srpol_path_set *set, uint32_t color,
		     uint32_t *weight)
{
	const uint8_t *weights[SRPOL_PLANES_MAX];
	uint32_t sum[SRPOL_PLANES_MAX], p, i, have, pairs = 0;
	uint64_t rate[SRPOL_PLANES_MAX], all = 0;
	const struct srpol_fan *fan;

	for (p = 0; p < set->pairs; p++) {
		fan = &set->pair[p].fan;
		weights[p] = srpol_plan_find(plan, fan->from, fan->to, color,
					     &have);
		if (weights[p] && have != fan->n)
			return -EINVAL;
		pairs += weights[p] != NULL;
		for (i = 0, sum[p] = 0; i < fan->n; i++)
			sum[p] += planned(f, links, fan, weights[p], i);
		rate[p] = sum[p] ? srpol_links_nic_rate(f, links,
							set->pair[p].src,
							set->pair[p].dst) >> 10 :
			  0;
		all += rate[p];
	}
	if (!pairs || !all)
		return -ENOENT;
	for (p = 0; p < set->pairs; p++) {
		fan = &set->pair[p].fan;
		for (i = 0; i < fan->n; i++) {
			uint64_t w = planned(f, links, fan, weights[p], i);
			uint32_t *to = &weight[set->pair[p].first + i];

			*to = rate[p] ? (unsigned __int128)w * WEIGHT_SUM *
				rate[p] / all / sum[p] : 0;
			if (w && rate[p] && !*to)
				*to = 1;
		}
	}
	return 0;
}

/* Returns -ENOENT if no flows have paths here, or if all of these are down. */
static int weigh_flows(const struct srpol_fabric *f,
		       const struct srpol_links *links,
		       const struct srpol_flows *flows, uint32_t n,
		       const struct srpol_path_set *set, uint32_t *weight)
{
	struct srpol_route route;
	uint64_t all = 0;
	bool some = false;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (flows[i].path >= set->n)
			return -EINVAL;
		all += flows[i].n;
	}
	memset(weight, 0, set->n * sizeof(*weight));
	for (i = 0; i < n; i++) {
		srpol_path_get(f, set, flows[i].path, &route);
		if (!srpol_route_capacity(links, &route))
			continue;
		weight[flows[i].path] = all <= WEIGHT_SUM ? flows[i].n :
			flows[i].n * (uint64_t)(WEIGHT_SUM - set->n) / all + 1;
		some = true;
	}
	return some ? 0 : -ENOENT;
}

/**
 * srpol_plan_weigh() - weights of the paths between two GPUs
 * @f: finished fabric
 * @links: link states as the host knows them; a path over a link that is down
 *	gets 0
 * @plan: plan
 * @src: source GPU
 * @dst: destination GPU
 * @color: color whose weights are wanted; other colors are not considered
 * @weight: result, by path number of srpol_path_set_init()
 * @max: number of entries that @weight has room for
 *
 * Return: number of paths; -ENOENT if the plan has no weights for them, or if
 * all paths with weights are down; -E2BIG, -EINVAL for a plan of another
 * fabric, -ENOMEM.
 */
int srpol_plan_weigh(const struct srpol_fabric *f,
		     const struct srpol_links *links,
		     const struct srpol_plan *plan, uint32_t src, uint32_t dst,
		     uint32_t color, uint32_t *weight, uint32_t max)
{
	const struct srpol_flows *flows;
	struct srpol_path_set set;
	uint32_t n;
	int ret = srpol_path_set_init(f, src, dst, &set);

	if (!ret && set.n > max)
		ret = -E2BIG;
	if (!ret) {
		flows = srpol_flows_find(plan, src, dst, color, &n);
		ret = weigh_flows(f, links, flows, n, &set, weight);
	}
	if (ret == -ENOENT)
		ret = weigh_set(f, links, plan, &set, color, weight);
	if (!ret)
		ret = set.n;
	srpol_path_set_free(&set);
	return ret;
}
