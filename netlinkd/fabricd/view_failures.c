// SPDX-License-Identifier: GPL-2.0
/*
 * Links that carry less than they should, the hosts that report this, and
 * switches with several such links, which are the first place to look.
 */
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"
#include "web.h"

#define LINKS_MAX	200	/* listed one by one */
#define SWITCHES_MAX	20

/**
 * struct said - report of one host about a cable
 * @cable: number of the cable
 * @capacity: bit/s
 * @report: the host's report
 */
struct said {
	uint32_t cable;
	uint64_t capacity;
	const struct input *report;
};

static uint64_t rate_of(uint32_t cable)
{
	return srpol_link_rate(&fabricd.fabric->links[2 * cable]);
}

static int by_cable(const void *a, const void *b)
{
	const struct said *x = a, *y = b;

	return x->cable != y->cable ? (x->cable < y->cable ? -1 : 1) :
	       x->capacity != y->capacity ?
	       (x->capacity < y->capacity ? -1 : 1) : 0;
}

static void add(struct vec *all, uint32_t cable, uint64_t capacity,
		const struct input *report)
{
	*(struct said *)vec_add(all) = (struct said){
		.cable = cable, .capacity = capacity, .report = report,
	};
}

/* A link that is only suspected is a failure if the plan does without it. */
static void gather(struct vec *all)
{
	const struct input_link *link;
	const struct judge_link *l;
	const struct input *report;
	struct vec suspects;

	suspects_get(&suspects);
	vec_for_each(report, &fabricd.reports) {
		vec_for_each(link, &report->links)
			if (link->capacity < rate_of(link->cable))
				add(all, link->cable, link->capacity, report);
		vec_for_each(l, &suspects)
			if (l->down && suspects_by(report, l->cable))
				add(all, l->cable, 0, report);
	}
	vec_free(&suspects);
	if (all->n)
		qsort(all->data, all->n, all->size, by_cable);
}

static json_t *said_json(const struct said *s)
{
	return json_pack("{s:s, s:I, s:I, s:I}",
			 "host", strrchr(s->report->key, '/') + 1,
			 "capacity", (json_int_t)s->capacity,
			 "number", (json_int_t)s->report->number,
			 "at", (json_int_t)s->report->heard);
}

/* @n reports about one cable; the least capacity counts. */
static json_t *link_json(const struct said *s, size_t n)
{
	const struct srpol_link *link = &fabricd.fabric->links[2 * s->cable];
	json_t *by = json_array();
	size_t i;

	for (i = 0; i < n && i < LINKS_MAX; i++)
		json_array_append_new(by, said_json(&s[i]));
	return json_pack("{s:s, s:s, s:I, s:I, s:o}",
			 "from", view_node(link->from),
			 "to", view_node(link->to),
			 "rate", (json_int_t)rate_of(s->cable),
			 "capacity", (json_int_t)s->capacity, "by", by);
}

/**
 * struct suspect - a switch with links that are down
 * @node: the switch
 * @down: number of them
 */
struct suspect {
	uint32_t node;
	uint32_t down;
};

static int by_down(const void *a, const void *b)
{
	const struct suspect *x = a, *y = b;

	return x->down != y->down ? (x->down < y->down ? 1 : -1) :
	       x->node < y->node ? -1 : 1;
}

static json_t *switches_json(uint32_t *down)
{
	const struct srpol_fabric *f = fabricd.fabric;
	struct vec found = VEC_INIT(struct suspect);
	json_t *list = json_array();
	const struct suspect *s;
	uint32_t i;

	for (i = 0; i < f->n_nodes; i++)
		if (f->nodes[i].tier != SRPOL_TIER_HOST && down[i] > 1)
			*(struct suspect *)vec_add(&found) =
				(struct suspect){ i, down[i] };
	if (found.n)
		qsort(found.data, found.n, found.size, by_down);
	vec_for_each(s, &found) {
		if (json_array_size(list) == SWITCHES_MAX)
			break;
		json_array_append_new(list, json_pack("{s:s, s:I, s:I}",
			"name", view_node(s->node), "down", (json_int_t)s->down,
			"links", (json_int_t)(f->nodes[s->node].up_n +
					      f->nodes[s->node].down_n)));
	}
	vec_free(&found);
	return list;
}

/**
 * view_failures() - links that carry less than they should, as JSON
 */
json_t *view_failures(void)
{
	const struct srpol_fabric *f = fabricd.fabric;
	uint32_t *down = store_alloc((f->n_nodes + 1) * sizeof(*down));
	struct vec all = VEC_INIT(struct said);
	json_int_t n = 0, n_down = 0;
	json_t *list = json_array();
	const struct said *s;
	size_t i, k;

	gather(&all);
	s = all.data;
	for (i = 0; i < all.n; i += k, n++) {
		for (k = 1; i + k < all.n && s[i + k].cable == s[i].cable; k++)
			;
		if (!s[i].capacity) {
			n_down++;
			down[f->links[2 * s[i].cable].from]++;
			down[f->links[2 * s[i].cable].to]++;
		}
		if (json_array_size(list) < LINKS_MAX)
			json_array_append_new(list, link_json(&s[i], k));
	}
	vec_free(&all);
	list = json_pack("{s:I, s:I, s:o, s:o}", "n", n, "down", n_down,
			 "links", list, "switches", switches_json(down));
	free(down);
	return list;
}
