// SPDX-License-Identifier: LGPL-2.1
/*
 * A fixed path per flow, among those of the demand's color. A path has a color
 * if all its switches have it. Colors can divide a fabric into slices, so that
 * jobs or tenants do not share switches (BGP DPF: colors as logical fabrics).
 */
#include <errno.h>

#include "alg.h"

static bool has_color(const struct srpol_fabric *f,
		      const struct srpol_route *route, uint32_t color)
{
	uint32_t i;

	for (i = 1; i + 1 < route->n; i++)
		if (!(f->nodes[f->links[route->link[i]].to].colors &
		      1u << color % 32))
			return false;
	return true;
}

static bool is_allowed(const struct srpol_alg_input *in, uint32_t d,
		       const struct srpol_path_set *set, uint32_t path)
{
	struct srpol_route route;

	srpol_path_get(in->fabric, set, path, &route);
	return srpol_demand_capacity(in, d, &route) &&
	       has_color(in->fabric, &route, in->demands[d].color);
}

/*
 * Of p paths, a flow always prefers number key mod p. While this path cannot be
 * used, the next usable one replaces it, so that no other flow moves.
 */
static int place(const struct srpol_alg_input *in, uint32_t d,
		 const struct srpol_path_set *set, struct srpol_placement *out)
{
	uint32_t i, path;

	for (i = 0; i < set->n; i++) {
		path = (in->demands[d].key % set->n + i) % set->n;
		if (is_allowed(in, d, set, path))
			return srpol_placement_add(out, d, path, 1);
	}
	return 0;
}

const struct srpol_alg srpol_alg_pinned = {
	.name = "pinned",
	.source = "RFC 9256 2.1 (color); draft-wang-idr-dpf",
	.complexity = "O(n) when paths are up",
	.place = place,
};
