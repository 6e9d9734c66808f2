// SPDX-License-Identifier: GPL-2.0
/* Measured load of links, compared with the planned load. */
#include <stdlib.h>

#include "srpol_lib.h"
#include "web.h"

#define LINKS_MAX	10

/**
 * struct top - links with the greatest share of planned or measured load
 * @n: number of links
 * @link: directed links
 * @share: the greater of both shares of each link
 */
struct top {
	uint32_t n;
	uint32_t link[LINKS_MAX];
	double share[LINKS_MAX];
};

static void add(struct top *top, uint32_t link, double share)
{
	uint32_t i;

	if (!(share > 0) ||
	    (top->n == LINKS_MAX && share <= top->share[top->n - 1]))
		return;
	i = top->n < LINKS_MAX ? top->n++ : top->n - 1;
	for (; i && share > top->share[i - 1]; i--) {
		top->link[i] = top->link[i - 1];
		top->share[i] = top->share[i - 1];
	}
	top->link[i] = link;
	top->share[i] = share;
}

/**
 * view_used() - fraction of a link's capacity that it carries, as measured
 * @link: directed link
 */
double view_used(uint32_t link)
{
	const struct srpol_links *links = loads_links();
	uint64_t capacity = links ? links->links[link].capacity : 0;

	return capacity ? measured_rate(link) / capacity : 0;
}

static json_t *link_json(uint32_t link, const double *loads,
			 const struct measured_shares *shares)
{
	const struct srpol_link *l = &fabricd.fabric->links[link];
	double planned, measured;

	measured_share_of(loads, shares, link, &planned, &measured);
	return json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}",
			 "from", view_node(l->from), "to", view_node(l->to),
			 "bps", measured_rate(link), "used", view_used(link),
			 "planned", planned, "measured", measured);
}

/**
 * view_loads() - planned and measured load as JSON
 * @loads: result of loads_get()
 */
json_t *view_loads(const double *loads)
{
	struct measured_shares shares;
	double planned, measured;
	struct top top = {};
	json_t *list = json_array();
	uint32_t i;

	measured_shares(loads, &shares);
	for (i = 0; i < fabricd.fabric->n_links; i++)
		if (measured_share_of(loads, &shares, i, &planned, &measured))
			add(&top, i, planned > measured ? planned : measured);
	for (i = 0; i < top.n; i++)
		json_array_append_new(list, link_json(top.link[i], loads,
						      &shares));
	return json_pack("{s:I, s:f, s:f, s:o, s:o}",
			 "hosts", (json_int_t)measured_hosts(),
			 "bps", shares.measured, "rest_bps", measured_rest(),
			 "off_plan", shares.comparable ?
			 json_real(shares.off_plan) : json_null(),
			 "links", list);
}
