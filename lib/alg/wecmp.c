// SPDX-License-Identifier: LGPL-2.1
/*
 * Weighted ECMP over planes (FARE, draft-xu-rtgwg-fare-in-sun 3). The weight of
 * a plane is its bandwidth: the minimum of what the two NICs and all paths
 * between their leaves together can carry. Within a plane, paths share in
 * proportion to their bandwidths. Weights are integers without a common
 * divisor: planes of 800, 800, 800 and 400 Gbit/s get 2:2:2:1. A plane without
 * bandwidth gets no weight. Since weights follow from link states alone, a
 * change of one plane does not change the proportions between other planes.
 */
#include <errno.h>
#include <stdlib.h>

#include "alg.h"

#define UNIT		1000000		/* bit/s: weights are in Mbit/s */
#define WEIGHT_SUM_MAX	(UINT64_C(1) << 24)

/* Converts bit/s to Mbit/s, at least 1 for a link that is up. */
static uint64_t units(uint64_t rate)
{
	return rate && rate < UNIT ? 1 : rate / UNIT;
}

static uint64_t nic_units(const struct srpol_alg_input *in, uint32_t nic,
			  uint32_t down)
{
	uint32_t link = in->fabric->nics[nic].link ^ down;

	return units(in->links->links[link].capacity);
}

/*
 * Bandwidth between two leaves: of each path that the demand may take in @path,
 * and the sum of these.
 */
static uint64_t fan_units(const struct srpol_alg_input *in, uint32_t d,
			  const struct srpol_path_set *set, uint32_t p,
			  uint64_t *path)
{
	const struct srpol_fan *fan = &set->pair[p].fan;
	uint64_t sum = 0, least, rate;
	uint32_t links[4], i, j, n;
	struct srpol_route route;

	for (i = 0; i < fan->n; i++) {
		if (in->demands[d].via) {
			srpol_path_get(in->fabric, set,
				       set->pair[p].first + i, &route);
			path[i] = 0;
			if (!srpol_demand_may(in, d, &route))
				continue;
		}
		n = srpol_fan_links(in->fabric, fan, i, links);
		least = n ? UINT64_MAX : units(SRPOL_RATE_MAX);
		for (j = 0; j < n; j++) {
			rate = in->links->links[links[j]].capacity;
			if (units(rate) < least)
				least = units(rate);
		}
		path[i] = least;
		sum += least;
	}
	return sum;
}

/*
 * Fills path[] with the parts of the plane's bandwidth that its paths get,
 * times @scale.
 */
static void plane_weights(const struct srpol_alg_input *in, uint32_t d,
			  const struct srpol_path_set *set, uint32_t p,
			  uint64_t scale, uint64_t *path)
{
	uint64_t sum, bandwidth, nic;
	uint32_t i, n = set->pair[p].fan.n;

	sum = fan_units(in, d, set, p, path);
	bandwidth = sum;
	nic = nic_units(in, set->pair[p].src, 0);
	if (nic < bandwidth)
		bandwidth = nic;
	nic = nic_units(in, set->pair[p].dst, 1);
	if (nic < bandwidth)
		bandwidth = nic;
	for (i = 0; i < n; i++) {
		unsigned __int128 w = (unsigned __int128)path[i] * bandwidth *
				      scale;

		path[i] = sum ? w / sum : 0;
	}
}

/*
 * Least common multiple of the denominators of all planes; 0 if it is too
 * great.
 */
static uint64_t common_scale(const struct srpol_alg_input *in, uint32_t d,
			     const struct srpol_path_set *set, uint64_t *path)
{
	uint64_t scale = 1, sum, part;
	uint32_t p, i;

	for (p = 0; p < set->pairs; p++) {
		sum = fan_units(in, d, set, p, path);
		for (i = 0, part = sum; i < set->pair[p].fan.n; i++)
			part = srpol_gcd(part, path[i]);
		if (!sum)
			continue;
		part = sum / part;
		scale *= part / srpol_gcd(scale, part);
		if (scale > 1 << 20)
			return 0;
	}
	return scale;
}

/*
 * Removes the common divisor, and scales weights down if their sum is too
 * great.
 */
static void reduce(uint64_t *path, uint32_t n)
{
	uint64_t g = 0, sum = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		g = srpol_gcd(g, path[i]);
	for (i = 0; i < n; i++) {
		path[i] /= g ? g : 1;
		sum += path[i] > WEIGHT_SUM_MAX ? WEIGHT_SUM_MAX : path[i];
	}
	if (sum <= WEIGHT_SUM_MAX)
		return;
	for (i = 0, sum = 0; i < n; i++)
		if (path[i] > sum)
			sum = path[i];
	for (i = 0; i < n; i++)
		if (path[i])
			path[i] = (double)path[i] / sum * 65535 + 0.5 < 1 ? 1 :
				  (double)path[i] / sum * 65535 + 0.5;
}

static int place(const struct srpol_alg_input *in, uint32_t d,
		 const struct srpol_path_set *set, struct srpol_placement *out)
{
	uint64_t *path, scale;
	uint32_t i, p;
	int rc = 0;

	path = calloc(set->n + 1UL, sizeof(*path));
	if (!path)
		return -ENOMEM;
	scale = common_scale(in, d, set, path);
	for (p = 0; p < set->pairs; p++)
		plane_weights(in, d, set, p, scale ? scale : 1 << 20,
			      path + set->pair[p].first);
	reduce(path, set->n);
	for (i = 0; i < set->n && !rc; i++)
		if (path[i])
			rc = srpol_placement_add(out, d, i, path[i]);
	free(path);
	return rc;
}

const struct srpol_alg srpol_alg_wecmp = {
	.name = "wecmp",
	.source = "FARE, draft-xu-rtgwg-fare-in-sun-02 3",
	.complexity = "O(n p)",
	.coupled = true,
	.place = place,
};
