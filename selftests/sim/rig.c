// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "sim.h"

void die(const char *why)
{
	fprintf(stderr, "sim: %s\n", why);
	exit(1);
}

/* For how long computing takes; results never depend on it. */
double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

void rig_up(struct rig *r, struct srpol_shape shape)
{
	struct srpol_error err = {};

	*r = (struct rig){};
	r->f = srpol_fabric_generate(&shape, &err);
	if (!r->f)
		die(err.text);
	r->links = srpol_links_new(r->f);
	if (!r->links)
		die("no memory");
}

void rig_down(struct rig *r)
{
	free(r->demands);
	srpol_links_free(r->links);
	srpol_fabric_free(r->f);
}

/* Other demands, and all links up. */
void rig_clear(struct rig *r)
{
	uint32_t i;

	r->n = 0;
	for (i = 0; i < r->f->n_links; i++)
		srpol_links_set_capacity(r->links, i,
					 srpol_link_rate(&r->f->links[i]));
}

void rig_send(struct rig *r, uint32_t src, uint32_t dst, uint64_t bytes)
{
	if (r->n == r->room) {
		r->room = r->room ? 2 * r->room : 1024;
		r->demands = realloc(r->demands,
				     r->room * sizeof(*r->demands));
		if (!r->demands)
			die("no memory");
	}
	r->demands[r->n] = (struct srpol_demand){
		.src = src, .dst = dst, .bytes = bytes, .key = r->n,
	};
	r->n++;
}

struct srpol_alg_input rig_input(const struct rig *r)
{
	return (struct srpol_alg_input){
		.fabric = r->f, .links = r->links, .demands = r->demands,
		.n = r->n,
	};
}

double rig_bound(const struct rig *r, struct srpol_bound *bound)
{
	struct srpol_alg_input in = rig_input(r);
	struct srpol_bound b;

	if (srpol_bound_get(&in, bound ? bound : &b))
		die("no bound");
	return bound ? bound->all : b.all;
}

void rig_set_both(struct rig *r, uint32_t link, uint64_t capacity)
{
	srpol_links_set_capacity(r->links, link, capacity);
	srpol_links_set_capacity(r->links, link ^ 1, capacity);
}

/* Links from leaves to spines; their number. */
uint32_t rig_uplinks(const struct rig *r, uint32_t *links)
{
	uint32_t i, n = 0;

	for (i = 0; i < r->f->n_links; i += 2) {
		if (r->f->nodes[r->f->links[i].from].tier != SRPOL_TIER_LEAF)
			continue;
		if (links)
			links[n] = i;
		n++;
	}
	return n;
}
